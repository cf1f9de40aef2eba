// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// What `checkTransport` finds.
        @Suite(.timeLimit(.minutes(10))) struct TransportContractTests {
            @Test func `the check accepts the transport of libcurl`() async throws {
                try await checkTransport(CurlTransport(), limit: .seconds(60))
            }

            /// A flaw, and words of the violation that the check has to name.
            private static let flaws: [(FlawedTransport.Flaw, String)] = [
                (.startsInline, "inside start"), (.endsTwice, "again after the end"),
                (.bytesAfterEnd, "again after the end"), (.bytesBeforeHead, "before the head"),
                (.headTwice, "two heads"), (.noHead, "that has no head"),
                (.informationalHead, "informational"), (.twoThreads, "two threads"),
                (.losesBytes, "whole response"), (.losesTheEnd, "does not end an attempt."),
                (.keepsCookies, "cookies"), (.followsRedirects, "redirects"),
                (.retries, "retries"), (.completesTruncated, "truncated"),
                (.ignoresCancel, "that is cancelled at once"),
                (.cancelsAsTimeout, "does not fail with .cancelled"),
                (.locks, "that its sink cancels inside"), (.ignoresPause, "while it is paused"),
                (.loads, ".cacheOnly"), (.ignoresShutDown, "shutDown"),
            ]

            @Test func `the check is tried with every flaw`() {
                #expect(Set(Self.flaws.map(\.0)) == Set(FlawedTransport.Flaw.allCases))
            }

            @Test(arguments: flaws)
            func `the check names the rule that a transport breaks`(
                flaw: FlawedTransport.Flaw, words: String
            ) async throws {
                let limit: Duration =
                    switch flaw {
                    // What is waited for never comes.
                    case .losesTheEnd, .ignoresCancel, .locks, .ignoresShutDown: .milliseconds(500)
                    // The violation is found before this is over.
                    case .noHead, .startsInline, .losesBytes, .retries: .seconds(3)
                    default: .seconds(60)
                    }
                let transport = FlawedTransport(flaw)
                let error = await #expect(throws: ContractViolations.self) {
                    try await checkTransport(transport, limit: limit)
                }
                let violations = error?.violations ?? []
                #expect(violations.contains { $0.contains(words) }, "\(violations)")
                await transport.end()
            }
        }
    }

    extension FlawedTransport {
        fileprivate func end() async { await base.shutDown() }
    }
#endif
