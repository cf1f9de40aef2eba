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
                (.loads, ".cacheOnly"), (.ignoresReset, "a connection from before"),
                (.ignoresShutDown, "shutDown"),
            ]

            @Test func `the check is tried with every flaw`() {
                #expect(Set(Self.flaws.map(\.0)) == Set(FlawedTransport.Flaw.allCases))
            }

            /// What is found only when the limit has passed: something never comes.
            private static let waits: [FlawedTransport.Flaw: Duration] = [
                .losesTheEnd: .milliseconds(500), .ignoresCancel: .milliseconds(500),
                .locks: .milliseconds(500), .ignoresShutDown: .milliseconds(500),
                .noHead: .seconds(3), .losesBytes: .seconds(3), .retries: .seconds(3),
            ]

            private static func check(
                _ flaw: FlawedTransport.Flaw, _ words: String, limit: Duration
            ) async {
                var violations: [String] = []
                // A machine that is too slow for the half second of a pause reads nothing in it.
                for _ in 0..<(flaw == .ignoresPause ? 20 : 1) where violations.isEmpty {
                    let transport = FlawedTransport(flaw)
                    do {
                        try await checkTransport(transport, limit: limit)
                    } catch {
                        violations = (error as? ContractViolations)?.violations ?? ["\(error)"]
                    }
                    await transport.end()
                }
                #expect(violations.contains { $0.contains(words) }, "\(flaw): \(violations)")
            }

            @Test(arguments: flaws.filter { waits[$0.0] == nil })
            func `the check names the rule that a transport breaks`(
                flaw: FlawedTransport.Flaw, words: String
            ) async {
                await Self.check(flaw, words, limit: .seconds(60))
            }

            @Test func `the check blames a call inside start for nothing else`() async {
                let error = await #expect(throws: ContractViolations.self) {
                    try await checkTransport(InlineTransport(), limit: .seconds(60))
                }
                #expect(
                    error?.violations == ["The transport calls its sink inside start(_:sink:)."])
            }

            // All at once: each waits for nothing most of the time.
            @Test func `the check names the rule of what never comes`() async {
                await withDiscardingTaskGroup { group in
                    for (flaw, words) in Self.flaws {
                        guard let limit = Self.waits[flaw] else { continue }
                        group.addTask { await Self.check(flaw, words, limit: limit) }
                    }
                }
            }
        }
    }

    /// A transport without a network, which answers before `start` has returned.
    private struct InlineTransport: Transport {
        private final class EndedTask: TransportTask {
            func cancel() {}
            func pause() {}
            func resume() {}
        }

        func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
            sink.didReceive(ResponseHead(status: 200))
            sink.didReceive(Data("whole".utf8))
            sink.didEnd(TransportReport())
            return EndedTask()
        }

        func reset() async {}

        func shutDown() async {}
    }

    extension FlawedTransport {
        fileprivate func end() async { await base.shutDown() }
    }
#endif
