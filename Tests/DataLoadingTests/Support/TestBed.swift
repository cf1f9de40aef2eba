// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// A service on a manual clock and a scripted transport, with a loader and its delegate.
final class TestBed: Sendable {
    let clock: ManualClock
    let transport: ScriptedTransport
    let service: DataLoaderService
    let factory: DataLoaderFactory
    let delegate: RecordingDelegate
    let loader: DataLoader
    let observer = RecordingObserver()
    private let clocked: ClockedTransport
    private let others = Locked<[DataLoader]>([])
    private let observerQueue = DispatchQueue(label: "observer")

    init(
        _ answers: [ScriptedAnswer] = [], otherwise: ScriptedAnswer = .hold,
        authorisers: [any Authoriser] = [], interceptors: [any Interceptor] = [],
        delegate: RecordingDelegate = RecordingDelegate(supportsChunks: true),
        delegateQueue: DispatchQueue? = nil, delivery: DataLoader.Delivery = .ofTests,
        clock: ManualClock = ManualClock(),
        _ configure: (inout DataLoaderService.Configuration) -> Void = { _ in }
    ) {
        self.clock = clock
        transport = ScriptedTransport(answers, otherwise: otherwise)
        clocked = ClockedTransport(transport, clock: clock)
        var configuration = DataLoaderService.Configuration()
        configuration.transport = clocked
        configure(&configuration)
        service = DataLoaderService(configuration: configuration, clock: clock)
        factory = service.makeFactory(authorisers: authorisers, interceptors: interceptors)
        self.delegate = delegate
        loader = factory.makeDataLoader(
            delegate: delegate, delegateQueue: delegateQueue, delivery: delivery)
        service.addConsumptionObserver(observer, on: observerQueue)
    }

    /// Every attempt's start, with its instant.
    var starts: [ClockedTransport.Start] { clocked.starts }

    /// Returns the outcome of the only load.
    func outcome() async -> RecordingDelegate.Event? {
        await delegate.outcomes(1).first
    }

    /// The last call for the only load, which must have ended.
    var ended: RecordingDelegate.Event? {
        settle()
        return delegate.events.last { $0.isTerminal }
    }

    /// The error of the only load, nil for a success; the test fails if the load has not ended.
    var error: DataLoaderError? {
        switch ended {
        case nil:
            Issue.record("No load has ended yet, with success or without.")
            return nil
        case .cancelled?: return .cancelled
        case let ended?: return ended.response?.error
        }
    }

    /// Returns when all triggered work is done: after that only time, the test's transport or the
    /// test's authorisers can trigger anything.
    func settle() {
        var rounds = 0
        var seen: [Int] = []
        while true {
            // Slots pass from load to load over the queue, one in each round.
            let load = service.runtime.admission.load
            let now = [
                delegate.events.count, transport.attempts.count, load.waiting, load.running,
                service.runtime.timerQueue.count,
            ]
            if rounds >= 4, now == seen { break }
            rounds += 1
            seen = now
            transport.flush()
            service.drainQueues()
            for loader in [loader] + others.withLock({ $0 }) { loader.queue.sync {} }
        }
        // Reports of a burst are delayed.
        service.runtime.observers.flush()
        observerQueue.sync {}
    }

    /// Retains another loader as long as the bed.
    func hold(_ loader: DataLoader) { others.withLock { $0.append(loader) } }

    /// Advances the clock and waits for the consequences.
    func advance(_ duration: Duration) {
        clock.advance(by: duration)
        settle()
    }

    /// Advances the clock to the next alarm within a limit; false if there is none.
    ///
    /// The limit excludes the default deadline of 60 s.
    @discardableResult
    func passPause(within limit: Duration = .seconds(59)) -> Bool {
        settle()
        guard let next = service.runtime.timerQueue.earliest, next - clock.instant <= limit else {
            return false
        }
        advance(next - clock.instant)
        return true
    }

    /// The attempt with a number, from 0, once it has started.
    func attempt(_ index: Int) async -> ScriptedAttempt {
        await transport.attempts(index + 1)[index]
    }

    /// Expects that nothing is left of any load: no slot, no queue entry, no timer.
    func expectNothingLeft(sourceLocation: SourceLocation = #_sourceLocation) {
        settle()
        let runtime = service.runtime
        // A thread of no known queue that has told an outcome counts its load's end after that.
        let limit = ContinuousClock.now + .seconds(60) * patience
        while runtime.liveLoads.live > 0, ContinuousClock.now < limit { Thread.sleep(until: .now) }
        let load = runtime.admission.load
        #expect(load.waiting == 0, sourceLocation: sourceLocation)
        #expect(load.running == 0, sourceLocation: sourceLocation)
        #expect(runtime.admission.isIdle, sourceLocation: sourceLocation)
        #expect(runtime.timerQueue.count == 0, sourceLocation: sourceLocation)
        #expect(runtime.liveLoads.live == 0, sourceLocation: sourceLocation)
        #expect(loader.currentRequests.isEmpty, sourceLocation: sourceLocation)
    }
}

extension DataLoaderService {
    /// Returns when the work on the queues of the service and its factories has run.
    func drainQueues() {
        runtime.queue.sync {}
        for context in runtime.contexts.present { context.queue.sync {} }
        runtime.queue.sync {}
    }
}

extension DataLoaderRequest {
    /// A request for a path of one test origin.
    static func make(
        _ path: String = "/", host: String = "http://origin.test",
        _ change: (inout DataLoaderRequest) -> Void = { _ in }
    ) -> DataLoaderRequest {
        var request = DataLoaderRequest(url: testURL(host + path), sourceIdentifier: "test")
        change(&request)
        return request
    }
}

/// A URL from text that is one.
func testURL(_ text: String) -> URL {
    URL(string: text) ?? URL(fileURLWithPath: "/not-a-url")
}

/// Bytes that differ by position, so that a lost, repeated or moved one shows.
func patternBytes(_ count: Int, from start: Int = 0) -> Data {
    var bytes = Data(capacity: count)
    var next = start
    while bytes.count < count {
        let place = next % pattern.count
        let piece = pattern[place..<min(pattern.count, place + count - bytes.count)]
        bytes.append(contentsOf: piece)
        next += piece.count
    }
    return bytes
}

/// A length that is no multiple of any usual size.
///
/// An array, because leak checkers do not see global data otherwise.
private let pattern: [UInt8] = {
    var generator = SeededGenerator(seed: 1)
    return (0..<65_521).map { _ in UInt8.random(in: 0...255, using: &generator) }
}()

extension ScriptedAttempt {
    /// Reads the request body as a transport does; nil if there is none or it cannot be read.
    @discardableResult func takeBody() -> Data? { try? readBody() }
}

extension MultipartForm {
    /// The whole body.
    var bytes: Data {
        segments.reduce(into: Data()) { body, segment in
            switch segment {
            case .bytes(let data): body += data
            case .file(let url): body += (try? Data(contentsOf: url)) ?? Data()
            }
        }
    }
}
