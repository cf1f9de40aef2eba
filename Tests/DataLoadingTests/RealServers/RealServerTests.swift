// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    import Foundation
    import Testing

    extension RealServer {
        private static let names =
            ProcessInfo.processInfo.environment["DATALOADING_SERVERS"] ?? ""

        /// Whether tests start servers of another make; ordinary runs do not.
        static var areWanted: Bool { !names.isEmpty }

        /// The servers that `DATALOADING_SERVERS` names, separated by spaces, or `all`.
        fileprivate static let chosen: [RealServer.Kind] =
            names == "all"
            ? RealServer.Kind.allCases
            : names.split(separator: " ").compactMap { RealServer.Kind(rawValue: String($0)) }
    }

    extension SocketTests {
        /// Mixed traffic of every kind with real servers.
        ///
        /// Each runs for `DATALOADING_SERVERS_SECONDS`, by default a minute, in its own process.
        /// The clock gives the seed, which is printed; `DATALOADING_SEED` sets it.
        /// `SceneSettings` has more settings.
        @Suite(.enabled(if: RealServer.areWanted)) struct RealServerTests {
            @Test(.timeLimit(.minutes(90)), arguments: RealServer.chosen)
            func `a reloaded and killed server fails no GET and gets no POST twice`(
                kind: RealServer.Kind
            ) async {
                #expect(kind.isInstalled)
                let result = await #expect(
                    processExitsWith: .success, observing: [\.standardOutputContent]
                ) { [kind] in
                    await ChildReport.run { try await RealServerReport(kind).run() }
                }
                ChildReport.check(result, begins: "\(kind):")
            }

            @Test func `a server that exits before it listens is started on other ports`() throws {
                let directory = TemporaryDirectory()
                var ports: [RealServer.Ports] = []
                let last = try RealServer.Ports.tried { chosen in
                    ports.append(chosen)
                    guard ports.count < 3 else { return chosen }
                    let server = try ServerProcess(
                        ["/bin/bash", "-c", "echo the port is taken"], in: directory.url, log: "log"
                    )
                    let failure = #expect(throws: RealServer.Failure.self) {
                        try server.waitUntilListening(on: [chosen.plain])
                    }
                    #expect(failure?.reason.hasSuffix("the port is taken\n") == true)
                    throw try #require(failure)
                }
                #expect(ports.count == 3)
                #expect(last.plain != ports[0].plain)
            }
        }
    }
#endif
