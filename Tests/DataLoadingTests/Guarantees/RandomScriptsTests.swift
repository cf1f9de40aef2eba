// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoadingAuth
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

extension LongComputations {
    /// Each load has one outcome and leaves nothing behind, whatever happens in whatever order.
    ///
    /// Random scripts contain outcomes, cancellations, time, authorisers' answers and resets.
    @Suite struct RandomScriptsTests {
        @Test func `random scripts end each load once and leave nothing`() async {
            for index in 0..<UInt64(propertyCases) {
                let seed = 20_260_101 &+ index
                guard let fault = await RandomScript(seed: seed).run() else { continue }
                Issue.record("seed \(seed): \(fault)")
                return
            }
        }
    }
}

/// One script: some loads, and then random events.
private final class RandomScript {
    private var generator: SeededGenerator
    private let authoriser = TestAuthoriser(.hold)
    private let bed: TestBed
    private var tokens: [(load: Int64, token: CancellationToken)] = []
    private var resets: [Task<Void, Never>] = []
    private var answered = 0
    private var performed = 0

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let isAuthorised = Int.random(in: 0..<3, using: &generator) == 0
        let rate: Double? = Int.random(in: 0..<3, using: &generator) == 0 ? 2 : nil
        let slots = Int.random(in: 1...3, using: &generator)
        bed = TestBed(authorisers: isAuthorised ? [authoriser] : []) { configuration in
            configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: rate)
            configuration.limits.perOrigin = slots
            configuration.limits.total = slots + 1
            configuration.limits.queue = 4
            configuration.retry.maximumRetryCount = 2
        }
        self.generator = generator
    }

    /// Runs the script and returns what went wrong.
    func run() async -> String? {
        for _ in 0..<Int.random(in: 3..<24, using: &generator) { await step() }
        bed.loader.cancelAllLoads()
        for reset in resets { await reset.value }
        bed.settle()
        return fault
    }

    private func step() async {
        switch Int.random(in: 0..<12, using: &generator) {
        case 0..<3: perform()
        case 3..<7: drive()
        case 7: tokens.randomElement(using: &generator)?.token.cancel()
        case 8: answer()
        case 9:
            bed.clock.advance(by: ms(Int64.random(in: 1...20_000, using: &generator)))
        case 10:
            bed.settle()
        default:
            await rare()
        }
    }

    private func rare() async {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0:
            let factory = bed.factory
            resets.append(Task { await factory.reset() })
        case 1: await bed.factory.reset()
        case 2: bed.loader.cancelAllLoads()
        case 3:
            bed.service.rateLimiter.setRequestsPerSecond(
                [nil, 0, 1, 100].randomElement(using: &generator) ?? nil,
                forHostOf: testURL("http://origin.test"))
        case 4:
            try? bed.service.rateLimiter.setRetryAfter(
                .seconds(Int.random(in: 1...100, using: &generator)),
                for: testURL("http://origin.test"))
        case 5:
            bed.service.rateLimiter.setRequestsPerSecond(
                5, forPathOf: testURL("http://origin.test/a"))
        case 6: bed.factory.isOffline.toggle()
        default:
            if Int.random(in: 0..<4, using: &generator) == 0 { bed.service.invalidateAndCancel() }
        }
    }

    private func perform() {
        let path = ["/a", "/b"].randomElement(using: &generator) ?? "/a"
        let hosts = ["http://origin.test", "http://other.test", "http://bad host"]
        let host = hosts.randomElement(using: &generator) ?? hosts[0]
        performed += 1
        let request = DataLoaderRequest.make(path, host: host) { request in
            request.chunks = Bool.random(using: &generator)
            request.method = Bool.random(using: &generator) ? .get : .post
            request.priority = Priority.allCases.randomElement(using: &generator) ?? .normal
            if Bool.random(using: &generator) {
                request.timeout = ms(Int64.random(in: 0...30_000, using: &generator))
            }
            request.waitsForConnectivity = Int.random(in: 0..<4, using: &generator) == 0
        }
        tokens.append((request.uniqueIdentifier, bed.loader.perform(request)))
    }

    private func drive() {
        guard let attempt = bed.transport.attempts.randomElement(using: &generator) else { return }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0, 1: attempt.sendHead(status: status)
        case 2: attempt.send(patternBytes(Int.random(in: 1...300_000, using: &generator)))
        case 3: attempt.end()
        case 4...6:
            let headers: HTTPHeaders =
                Bool.random(using: &generator) ? ["Location": "/b", "Retry-After": "3"] : [:]
            attempt.respond(status: status, headers: headers, body: patternBytes(10))
        default:
            let errors: [DataLoaderError.Kind] = [
                .dns, .connectRefused, .connectionReset, .idleTimeout, .truncatedBody, .pin,
                .cancelled, .framing(reason: "x"),
            ]
            let sent: [SentState] = [.nothingWritten, .written, .headReceived]
            attempt.fail(
                errors.randomElement(using: &generator) ?? .dns,
                sent: sent.randomElement(using: &generator) ?? .written)
        }
    }

    private var status: Int {
        [200, 200, 204, 301, 307, 401, 401, 404, 429, 500, 503].randomElement(using: &generator)
            ?? 200
    }

    private func answer() {
        guard let index = authoriser.heldNow.indices.randomElement(using: &generator) else {
            return
        }
        Bool.random(using: &generator) ? authoriser.grant(index) : authoriser.refuse(index)
    }

    private var fault: String? {
        let events = bed.delegate.events
        let outcomes = events.filter(\.isTerminal).compactMap(\.requestIdentifier)
        if outcomes.count != performed { return "\(outcomes.count) outcomes of \(performed)" }
        if Set(outcomes).count != performed { return "a load ended twice" }
        if bed.observer.entries.count != performed {
            return "\(bed.observer.entries.count) reports of \(performed)"
        }
        let cancelled = Set(
            events.compactMap { event in
                if case .cancelled(let request) = event { request.uniqueIdentifier } else { nil }
            })
        for (load, token) in tokens where token.isCancelled != cancelled.contains(load) {
            return "token \(load) says \(token.isCancelled), its outcome something else"
        }
        // No outcome is later than its deadline.
        for case .error(let response) in events {
            guard let timeout = response.request.timeout else { continue }
            if response.requestTime > timeout { return "\(response) took \(response.requestTime)" }
        }
        // An initial response is never the last call, and comes before the outcome of its load.
        var over: Set<Int64> = []
        for event in events {
            guard let identifier = event.requestIdentifier else { continue }
            if over.contains(identifier) { return "a call after the end" }
            if event.isTerminal { over.insert(identifier) }
        }
        let runtime = bed.service.runtime
        if runtime.admission.load != (0, 0) { return "slots \(runtime.admission.load)" }
        if !runtime.admission.isIdle { return "admission is not idle" }
        if runtime.liveLoads.live != 0 { return "\(runtime.liveLoads.live) live" }
        if runtime.timerQueue.count != 0 { return "\(runtime.timerQueue.count) appointments" }
        if !bed.loader.currentRequests.isEmpty { return "requests are left" }
        return nil
    }
}
