// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What a load waits for when its task is cancelled.
enum AwaiterStage: CaseIterable, Sendable {
    case authoriser, token, refresh, rate, gate, slot, backOff, head, body, sharedLoad

    func happens(to awaiter: Awaiter) -> Bool { self != .sharedLoad || awaiter.isWhole }
}

/// A bed in which one load gets as far as a stage.
final class AwaiterScene: Sendable {
    let bed: TestBed
    let request: DataLoaderRequest
    private let stage: AwaiterStage
    private let authoriser = HoldingAuthoriser()
    private let fetch = HeldFetch<AccessToken>()
    /// The loader of the loads that are in the way.
    private let other: DataLoader

    init(_ stage: AwaiterStage) throws {
        self.stage = stage
        let clock = ManualClock()
        let tokens = TokenAuthoriser(hosts: ["origin.test"], clock: clock) { [fetch] in
            try await fetch($0)
        }
        let authorisers: [any Authoriser] =
            switch stage {
            case .authoriser: [authoriser]
            case .token, .refresh: [tokens]
            default: []
            }
        bed = TestBed(authorisers: authorisers, clock: clock) { configuration in
            guard stage == .slot else { return }
            configuration.limits.perOrigin = 1
            configuration.limits.streamsPerOrigin = 1
        }
        other = bed.factory.makeDataLoader()
        bed.hold(other)
        var request = DataLoaderRequest.make(host: "https://origin.test")
        switch stage {
        case .rate: bed.service.rateLimiter.setRequestsPerSecond(0, forHostOf: request.url)
        case .gate: try bed.service.rateLimiter.setRetryAfter(.seconds(30), for: request.url)
        case .backOff:
            request.retryPolicy = .constant(.seconds(30), maximumRetries: 3)
        case .sharedLoad: request.coalescing = .sameRequest
        default: break
        }
        self.request = request
    }

    /// Starts the loads that are in the way.
    func prepare() async {
        switch stage {
        case .slot:
            other.perform(request)
            var stream = request
            stream.slotUse = .stream
            other.perform(stream)
            _ = await bed.attempt(1)
        case .sharedLoad:
            other.perform(request)
            _ = await bed.attempt(0)
        default: break
        }
    }

    /// Returns when the load has reached the stage.
    func reach() async {
        switch stage {
        case .authoriser: await authoriser.held(1)
        case .token: _ = await fetch.call(0)
        case .refresh:
            await fetch.call(0).answer(AccessToken("1"))
            await bed.attempt(0).respond(status: 401)
            _ = await fetch.call(1)
        case .rate, .gate, .slot:
            await eventually { bed.service.runtime.admission.load.waiting == 1 }
        case .backOff:
            await bed.attempt(0).fail(.connectRefused)
            bed.settle()
        case .head: _ = await bed.attempt(0)
        case .body:
            let attempt = await bed.attempt(0)
            attempt.sendHead(status: 200, headers: ["Content-Type": "text/event-stream"])
            attempt.send(Data("1".utf8))
            bed.settle()
        case .sharedLoad:
            // The first load, the one that is sent for both, and this one.
            await eventually { bed.service.runtime.liveLoads.live == 3 }
            bed.settle()
            #expect(bed.transport.attempts.count == 1)
        }
    }

    /// Ends what the test has held.
    func letGo() async {
        other.cancelAllLoads()
        switch stage {
        case .token: await fetch.call(0).fail(CancellationError())
        case .refresh: await fetch.call(1).fail(CancellationError())
        default: break
        }
    }
}
