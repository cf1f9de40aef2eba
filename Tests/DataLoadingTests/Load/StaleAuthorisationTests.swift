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
}
