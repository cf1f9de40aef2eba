// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoadingAuth
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Loads of a factory whose authoriser blocks its queue.
@Suite(.timeLimit(.minutes(15))) struct BlockedFactoryTests {
    /// Returns a factory whose first load blocks it.
    private func blocked(
        _ configure: (inout DataLoaderService.Configuration) -> Void = { _ in }
    ) async -> (TestBed, Blocker) {
        let blocker = Blocker()
        let bed = TestBed(
            otherwise: .respond(status: 200),
            authorisers: [BlockingAuthoriser(.authorise, blocker)], configure)
        let loader = bed.loader
        Thread.detachNewThread { loader.perform(.make("/first")) }
        await blocker.blocks()
        return (bed, blocker)
    }

    @Test func `loads that end while their factory is blocked leave nothing behind`() async {
        let (bed, blocker) = await blocked()
        let freed = EventRecorder<Void>()
        let loads = (0..<50).map { _ in
            Task { [loader = bed.loader] in
                _ = try? await loader.response(
                    for: .make {
                        $0.method = .put
                        $0.body = .data(.telling(freed))
                    })
            }
        }
        // Its deadline is set before a load waits here.
        await eventually { bed.factory.context.backlog.waiting == 50 }
        bed.clock.advance(by: .seconds(60))
        for load in loads { await load.value }
        _ = await freed.first(50)
        #expect(!blocker.gaveUp)
        blocker.release()
        bed.expectNothingLeft()
    }

    @Test func `no more loads than the queue limit wait for a blocked factory`() async throws {
        let (bed, blocker) = await blocked { $0.limits.queue = 5 }
        let loader = bed.factory.makeDataLoader()
        let waiting = (0..<5).map { _ in
            Task { try await loader.response(for: .make()) }
        }
        await eventually { bed.factory.context.backlog.waiting == 5 }
        await #expect(throws: DataLoaderError.overloaded) {
            try await loader.response(for: .make())
        }
        blocker.release()
        for load in waiting { #expect(try await load.value.statusCode == .ok) }
    }

    @Test func `loads that need no authoriser do not wait for a blocked factory`() async throws {
        let (bed, blocker) = await blocked()
        let loader = bed.factory.makeDataLoader()
        let response = try await loader.response(
            for: .make { $0.skipsAuthorisation = true })
        #expect(response.statusCode == .ok)
        await #expect(throws: DataLoaderError.notCached) {
            try await loader.response(for: .make { $0.cachePolicy = .cacheOnly })
        }
        #expect(!blocker.gaveUp)
        blocker.release()
    }

    @Test func `the wait for a blocked factory counts as authorisation time`() async {
        let (bed, blocker) = await blocked()
        let delegate = RecordingDelegate()
        let loader = bed.factory.makeDataLoader(delegate: delegate)
        loader.perform(.make { $0.timeout = .seconds(9) })
        await eventually { bed.service.runtime.liveLoads.live == 2 }
        bed.clock.advance(by: .seconds(9))
        let metrics = await delegate.outcomes(1)[0].response?.metrics
        #expect(metrics?.authorisationTime == .seconds(9))
        blocker.release()
    }

    /// Where it is called, as an authoriser sees it that comes after one that answers later.
    @Test
    func `an authoriser after one that answers later is asked on the factory's queue`()
        async
    {
        let factory = Locked<DataLoaderFactory?>(nil)
        let seen = Locked<[Bool]>([])
        let first = TestAuthoriser(.hold)
        let second = TestAuthoriser(onCall: { call in
            guard case .authorise = call else { return }
            let isOnQueue = factory.withLock { $0 }?.context.isOnQueue ?? false
            seen.withLock { $0 += [isOnQueue, AuthorisersWork.isCurrent] }
        })
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [first, second])
        factory.withLock { $0 = bed.factory }
        bed.loader.perform(.make())
        bed.settle()
        // Answered on a thread that does not belong to the factory.
        Thread.detachNewThread { first.grant(0) }
        #expect(await bed.outcome()?.response?.error == nil)
        #expect(seen.withLock { $0 } == [true, true])
        factory.withLock { $0 = nil }
    }
}
