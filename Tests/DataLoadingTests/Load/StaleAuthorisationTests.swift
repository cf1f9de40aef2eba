// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A credential that was added before a load waited for its slot may be too old after the wait.
@Suite struct StaleAuthorisationTests {
    /// Numbers its answers, each of which is good for so long.
    private final class NumberingAuthoriser: Authoriser {
        private let lifetime: Duration?
        private let clock: ManualClock
        private let count = Locked(0)

        init(_ lifetime: Duration?, _ clock: ManualClock) {
            self.lifetime = lifetime
            self.clock = clock
        }

        var answers: Int { count.withLock { $0 } }

        func authorise(_ request: DataLoaderRequest) -> Authorisation {
            let number = count.withLock { count in
                count += 1
                return count
            }
            var authorised = request
            authorised.headers["Authorization"] = "Bearer \(number)"
            authorised[option: AuthorisedUntil.self] = lifetime.map { clock.instant + $0 }
            return .use(authorised)
        }
    }

    private let clock = ManualClock()

    /// Two loads of which the second waits for its rate slot for as long as `wait`.
    private func waited(
        _ wait: Duration, lifetime: Duration? = nil
    ) async -> (TestBed, NumberingAuthoriser) {
        let authoriser = NumberingAuthoriser(lifetime, clock)
        let rate =
            1 / (Double(wait.components.seconds) + Double(wait.components.attoseconds) / 1e18)
        let bed = TestBed(
            otherwise: .respond(status: 200), authorisers: [authoriser], clock: clock
        ) { $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: rate) }
        bed.loader.perform(.make("/a"))
        bed.loader.perform(.make("/b"))
        bed.settle()
        bed.advance(wait)
        return (bed, authoriser)
    }

    private func sent(_ bed: TestBed) -> [String?] {
        bed.transport.attempts.map { $0.request.headers["Authorization"] }
    }

    @Test func `a load that waited up to 5 s for its slot is sent as it was authorised`() async {
        let (bed, authoriser) = await waited(.seconds(5))
        #expect(sent(bed) == ["Bearer 1", "Bearer 2"])
        #expect(authoriser.answers == 2)
        bed.expectNothingLeft()
    }

    @Test
    func `a load that waited longer than 5 s for its slot is authorised again before it is sent`()
        async
    {
        let (bed, authoriser) = await waited(.seconds(8))
        #expect(sent(bed) == ["Bearer 1", "Bearer 3"])
        #expect(authoriser.answers == 3)
        let metrics = bed.delegate.events.compactMap(\.response).last?.metrics
        #expect(metrics?.attempts == 1)
        #expect(metrics?.admissionTime == .seconds(8))
        bed.expectNothingLeft()
    }

    @Test
    func `a credential that expired during the wait for a slot is replaced before it is sent`()
        async
    {
        let (bed, authoriser) = await waited(.seconds(4), lifetime: .seconds(3))
        #expect(sent(bed) == ["Bearer 1", "Bearer 3"])
        #expect(authoriser.answers == 3)
        bed.expectNothingLeft()
    }

    @Test
    func `a load keeps its slot while an authoriser answers later, and gives it back when it ends`()
        async
    {
        let authoriser = TestAuthoriser(.hold)
        let bed = TestBed(otherwise: .hold, authorisers: [authoriser]) { configuration in
            configuration.limits.perOrigin = 1
        }
        let loads = ["/a", "/b", "/c"].map { bed.loader.perform(.make($0)) }
        _ = await authoriser.held(3)
        for index in 0..<3 { authoriser.grant(index) }
        bed.settle()
        bed.advance(.seconds(6))
        await bed.attempt(0).respond(status: 200)
        // The second load has the slot and is asked about again; the third waits for the slot.
        _ = await authoriser.held(4)
        bed.settle()
        #expect(bed.transport.attempts.count == 1)
        loads[1].cancel()
        _ = await authoriser.held(5)
        authoriser.grant(4)
        await bed.attempt(1).respond(status: 200)
        bed.settle()
        #expect(bed.transport.attempts.map(\.request.url.path) == ["/a", "/c"])
        loads[2].cancel()
        bed.expectNothingLeft()
    }

    @Test func `a load that is refused with its slots gives them back for a stored response`() async
    {
        let authoriser = TestAuthoriser(.add("Authorization", "Bearer 1"))
        let bed = CacheBed().bed(
            [fresh("old", ["Cache-Control": "stale-if-error=3600"], maxAge: 1)], otherwise: .hold,
            authorisers: [authoriser]
        ) { $0.limits.perOrigin = 1 }
        bed.loader.perform(.make("/a"))
        _ = await bed.delegate.outcomes(1)
        bed.advance(.seconds(10))
        bed.loader.perform(.make("/b"))
        bed.settle()
        bed.loader.perform(.make("/a"))
        bed.settle()
        bed.advance(.seconds(6))
        authoriser.answers(.refuse)
        await bed.attempt(1).respond(status: 200)
        let outcomes = await bed.delegate.outcomes(3)
        #expect(outcomes.compactMap(\.response).map(text).sorted() == ["", "old", "old"])
        authoriser.answers(.add("Authorization", "Bearer 2"))
        let last = bed.loader.perform(.make("/c"))
        bed.settle()
        #expect(bed.transport.attempts.map(\.request.url.path) == ["/a", "/b", "/c"])
        last.cancel()
        bed.expectNothingLeft()
    }

    // Each load that gets the slots gives them back for the next one.
    @Test(.disabled(if: isSanitized, "a sanitizer keeps variables elsewhere"))
    func `loads that are asked about again do not nest on the stack`() async {
        let authoriser = DepthAuthoriser()
        let count = 200
        let bed = TestBed(otherwise: .hold, authorisers: [authoriser]) { configuration in
            configuration.limits.perOrigin = 1
        }
        for index in 0..<count { bed.loader.perform(.make("/\(index)")) }
        await authoriser.asked(count)
        bed.settle()
        bed.advance(.seconds(6))
        authoriser.answersLater()
        await bed.attempt(0).respond(status: 200)
        await authoriser.asked(2 * count - 1)
        #expect(authoriser.depth < 65_536)
        bed.loader.cancelAllLoads()
        bed.settle()
    }
}

/// Notes how far apart on the stack of one thread it is called.
private final class DepthAuthoriser: Authoriser {
    private struct State {
        var isLate = false
        var range: [UInt: ClosedRange<UInt>] = [:]
    }

    let isNonblocking = true
    private let state = Locked(State())
    private let questions = EventRecorder<HeldQuestion>()

    var depth: UInt {
        state.withLock { $0.range.values.map { $0.upperBound - $0.lowerBound }.max() ?? 0 }
    }

    func answersLater() { state.withLock { $0.isLate = true } }

    func asked(_ count: Int) async { _ = await questions.first(count) }

    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        var mark: UInt8 = 0
        let place = withUnsafeMutablePointer(to: &mark) { UInt(bitPattern: $0) }
        let thread = UInt(bitPattern: pthread_self().hashValue)
        let isLate = state.withLock { state in
            if state.isLate {
                let known = state.range[thread] ?? place...place
                state.range[thread] = min(known.lowerBound, place)...max(known.upperBound, place)
            }
            return state.isLate
        }
        let question = HeldQuestion(request)
        questions.record(question)
        guard isLate else { return .use(request) }
        return question.authorisation {}
    }
}
