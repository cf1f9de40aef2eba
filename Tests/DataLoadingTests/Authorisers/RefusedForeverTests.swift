// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension LongComputations {
    /// One endpoint that answers 401 whatever it is sent, beside others that do not.
    @Suite(.timeLimit(.minutes(15))) struct RefusedForeverTests {
        /// How often the bad and the good endpoints are asked.
        @Test(arguments: [(1, 10), (7, 5), (60, 20), (300, 10), (601, 5)])
        func `an endpoint that refuses every token causes at most twenty fetches an hour`(
            bad: Int, good: Int
        ) async {
            let clock = ManualClock()
            let count = Locked(0)
            let authoriser = TokenAuthoriser(hosts: ["origin.test"], clock: clock) { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return AccessToken("\(number)", lifetime: .seconds(86_400))
            }
            let bed = TestBed(
                otherwise: .run { attempt in
                    attempt.respond(status: attempt.request.url.path == "/bad" ? 401 : 200)
                }, authorisers: [authoriser], clock: clock)
            let loader = bed.factory.makeDataLoader()
            var failures = 0
            for second in 0..<3_600 {
                for (path, interval, status) in [("/bad", bad, 401), ("/good", good, 200)]
                where second.isMultiple(of: interval) {
                    let response = try? await loader.response(
                        for: .make(path, host: "https://origin.test"))
                    if response?.statusCode?.rawValue != status { failures += 1 }
                }
                clock.advance(by: .seconds(1))
            }
            #expect(failures == 0)
            #expect(count.withLock { $0 } <= 20)
        }

        // A request that is refused with the best there is would be sent a second time for nothing.
        @Test func `a refused request is not sent again while no other token can be had`() async {
            let clock = ManualClock()
            let count = Locked(0)
            let authoriser = TokenAuthoriser(hosts: ["origin.test"], clock: clock) { _ in
                count.withLock { $0 += 1 }
                return AccessToken("t")
            }
            let bed = TestBed(
                otherwise: .respond(status: 401), authorisers: [authoriser], clock: clock)
            let loader = bed.factory.makeDataLoader()
            let request = DataLoaderRequest.make(host: "https://origin.test")
            // Four tokens are replaced at once, each sent once; the fifth is not replaced yet.
            for attempts in [2, 4, 5, 6] {
                let response = try? await loader.response(for: request)
                #expect(response?.statusCode == .unauthorised)
                #expect(bed.transport.attempts.count == attempts)
            }
            #expect(count.withLock { $0 } == 5)
        }
    }
}
