// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Loads of a factory whose authoriser blocks.
@Suite(.timeLimit(.minutes(15))) struct BlockedFactoryTests {
    /// A factory that is blocked by its first load.
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

    @Test func `loads that have ended leave nothing behind it`() async {
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
        await eventually { bed.service.runtime.ledger.live == 51 }
        bed.clock.advance(by: .seconds(60))
        for load in loads { await load.value }
        _ = await freed.first(50)
        #expect(!blocker.gaveUp)
        blocker.release()
        bed.expectNothingLeft()
    }

    @Test func `no more loads wait for it than may`() async throws {
        let (bed, blocker) = await blocked { $0.limits.queue = 5 }
        let loader = bed.factory.makeDataLoader()
        let waiting = (0..<5).map { _ in
            Task { try await loader.response(for: .make()) }
        }
        await eventually { bed.service.runtime.ledger.live == 6 }
        await #expect(throws: DataLoaderError.overloaded) {
            try await loader.response(for: .make())
        }
        blocker.release()
        for load in waiting { #expect(try await load.value.statusCode == .ok) }
    }

    @Test func `loads that ask no authoriser do not wait for it`() async throws {
        let (bed, blocker) = await blocked()
        let loader = bed.factory.makeDataLoader()
        let response = try await loader.response(
            for: .make { $0[option: SkipsAuthorisation.self] = true })
        #expect(response.statusCode == .ok)
        await #expect(throws: DataLoaderError.notCached) {
            try await loader.response(for: .make { $0.cachePolicy = .cacheOnly })
        }
        #expect(!blocker.gaveUp)
        blocker.release()
    }

    @Test func `the wait for it counts as waiting for authorisation`() async {
        let (bed, blocker) = await blocked()
        let delegate = RecordingDelegate()
        let loader = bed.factory.makeDataLoader(delegate: delegate)
        loader.perform(.make { $0.timeout = .seconds(9) })
        await eventually { bed.service.runtime.ledger.live == 2 }
        bed.clock.advance(by: .seconds(9))
        let metrics = await delegate.outcomes(1)[0].response?.metrics
        #expect(metrics?.authorisationTime == .seconds(9))
        blocker.release()
    }

    /// Where it is called, as an authoriser that is not the first of a composite sees it.
    @Test
    func `a further part of a composite is asked on the factory's queue, and its loads are its`()
        async
    {
        let factory = Locked<DataLoaderFactory?>(nil)
        let seen = Locked<[Bool]>([])
        let first = TestAuthoriser(.hold)
        let second = TestAuthoriser(onCall: { call in
            guard case .authorise = call else { return }
            let isOnQueue = factory.withLock { $0 }?.isOnQueue ?? false
            seen.withLock { $0 += [isOnQueue, AuthorisersWork.isCurrent] }
        })
        let composite = CompositeAuthoriser([.basic: first, .bearer: second])
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [composite])
        factory.withLock { $0 = bed.factory }
        bed.loader.perform(.make { $0[option: AuthenticationMethod.self] = [.basic, .bearer] })
        bed.settle()
        // On a thread that has nothing to do with the factory.
        Thread.detachNewThread { first.grant(0) }
        #expect(await bed.outcome()?.response?.error == nil)
        #expect(seen.withLock { $0 } == [true, true])
        factory.withLock { $0 = nil }
    }
}
