// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if URLSession && canImport(FoundationNetworking)
    import DataLoading
    import Foundation
    import Testing

    extension SocketTests {
        /// The matrix with `URLSessionTransport`, in the cells that apply to it on Linux.
        @Suite struct URLSessionFaultMatrix {
            @Test(.timeLimit(.minutes(15)))
            func `every fault that URLSession survives ends as the table says`() async {
                let result = await #expect(
                    processExitsWith: .success,
                    observing: [\.standardOutputContent, \.standardErrorContent]
                ) {
                    let report = await FaultTable.run(FaultTable.chosen, .urlSession).text + "\n"
                    try FileHandle.standardOutput.write(contentsOf: Data(report.utf8))
                }
                let report = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
                print(report)
                // Foundation writes there why it ended the process.
                print(String(decoding: result?.standardErrorContent ?? [], as: UTF8.self))
                let totals = report.split(separator: "\n").last { $0.hasPrefix("fault matrix ") }
                #expect(totals?.contains(" cells, 0 violations, ") == true)
            }

            @Test func `every reason to exclude cells from the URLSession matrix excludes some`() {
                for (reason, cells) in FaultColumn.urlSession.excluded(from: FaultTable.all) {
                    #expect(cells > 0, "\(reason)")
                }
            }
        }
    }

    extension FaultColumn {
        /// What Foundation 6.3.1 does not support compared with `CurlTransport`.
        static let urlSession: FaultColumn = {
            var column = FaultColumn(title: "URLSessionTransport") { _ in URLSessionTransport() }
            column.host = "127.0.0.1"
            column.takesTrust = false
            column.exclusions = urlSessionExclusions
            column.adapt = { scene in
                scene.with {
                    $0.addresses = []
                    // The idle limit also covers connecting, as long as nothing was received.
                    if $0.isHasty { $0.timeouts.connect = .milliseconds(1) }
                }
            }
            return column
        }()

        private static let urlSessionExclusions: [FaultExclusion] = [
            FaultExclusion("names, addresses, pins and authorities cannot be given to it") {
                fault, cell in
                if fault.number == 32 { return fault.title.contains("pinned") }
                return [1, 2, 34].contains(fault.number) || fault.title.contains("two addresses")
                    || cell.isSecure && fault.number != 33
            },
            FaultExclusion("a certificate that fails for the authority cannot fail otherwise") {
                fault, _ in
                let titles = ["expired", "another host", "all but 1 byte"]
                return titles.contains { fault.title.contains($0) }
            },
            FaultExclusion("a handshake that fails is not told from a request that does") {
                fault, cell in
                fault.number == 33 && cell.isSecure
                    && (cell.isPost || fault.title.contains("handshake reset"))
            },
            FaultExclusion("it does not tell when it has connected") { fault, _ in
                fault.number == 4 || fault.title.contains("waits for a line")
            },
            // Upstream commit e1bc19d78; see `URLSessionCrashTests`. A server that is stopped in
            // the middle of its head also ends the head, unless the cancellation is faster.
            FaultExclusion("it ends the process") { fault, _ in
                [
                    "FIN inside a field", "FIN before the empty line", "slow-loris head",
                    "stall inside the head", "chunked, with trailers",
                ].contains(fault.title)
            },
            FaultExclusion("what is refused is read on, for seconds, on the queue of all sessions")
            { fault, _ in
                let titles = [
                    "100 000 fields", "a head without end", "200 000 × 103", "a gzip bomb",
                ]
                return titles.contains { fault.title.hasPrefix($0) }
            },
            FaultExclusion("a coded body that is cut off or is none counts as whole") { fault, _ in
                ["gzip that is cut off", "an unknown coding"].contains(fault.title)
            },
            FaultExclusion("it refuses heads that others can read") { fault, _ in
                [
                    "bare LF", "no space after a colon", "no reason", "Latin-1 in a value",
                    "one in Latin-1",
                ].contains(fault.title)
            },
            // Whether it reads the response before it writes to a reset connection varies.
            FaultExclusion("a reset can overtake an answer that has arrived") { fault, _ in
                fault.number == 39
            },
            FaultExclusion("a body is written after its head, where a close becomes a reset") {
                fault, cell in fault.title == "plain to a port of TLS" && cell.isPost
            },
            // Foundation's libcurl does what `CurlTransport` forbids.
            FaultExclusion("on a stale connection it sends again by itself, unseen") {
                fault, cell in
                let isStale =
                    [5, 35].contains(fault.number) || fault.title.contains("the status line")
                return isStale && !cell.isPost && cell.isReused
            },
            FaultExclusion("on a stale connection a body is sent again, without its bytes") {
                fault, cell in
                let isStale =
                    [5, 35, 36].contains(fault.number) || fault.title.contains("the status line")
                return isStale && cell.isPost && cell.isReused
            },
        ]
    }
#endif
