// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingTesting
    import Dispatch
    import Foundation
    import Testing

    extension SocketTests {
        /// `FeedDaemon --fleet`, with a Redis that goes away.
        @Suite struct FleetDaemonTests {
            private let directory = TemporaryDirectory()

            @Test(.enabled(if: RedisServer.isInstalled))
            func `FeedDaemon tells whether it shares, and goes on when Redis is gone`() async throws
            {
                let arrivals = DispatchSemaphore(value: 0)
                let server = try LoopbackServer { _ in
                    arrivals.signal()
                    return .ok("news")
                }
                defer { server.stop() }
                let feeds = """
                    {"features": [{"name": "news", "urls": ["\(server.url("/news"))"],
                                   "interval": 0.01}], "rates": {"default": 20}}
                    """
                let file = try directory.write(Data(feeds.utf8), to: "feeds.json")
                let redis = try RedisServer()
                let run = try await DemoProcess.run(
                    "FeedDaemon",
                    ["--quiet", "--config", file.path, "--fleet", "\(redis.endpoint)"], [:]
                ) { process, output in
                    try output.waitFor("shares its rates through Redis")
                    for _ in 0..<10 { arrivals.wait() }
                    redis.kill()
                    try output.waitFor("does not reach Redis")
                    for _ in 0..<30 { arrivals.wait() }
                    kill(process, SIGTERM)
                }
                #expect(run.status == 0)
                let output = run.output
                #expect(output.contains("fleet         shares its rates through Redis; no other"))
                #expect(
                    output.contains("fleet         does not reach Redis, and knows of no other"))
                let report = try #require(output.range(of: "\nfleet  "))
                let line = output[report.upperBound...].prefix { $0 != "\n" }
                #expect(
                    line.contains("rates shared by this daemon only through \(redis.endpoint);"))
                #expect(line.hasSuffix(" s, and at the end"))
            }

            @Test(.enabled(if: RedisServer.isInstalled))
            func `FeedDaemon reads the password of the fleet's user from a file`() async throws {
                let redis = try RedisServer([
                    "--user", "default", "off", "--user", "feeds", "on", ">right", "~*", "+@all",
                ])
                let server = try LoopbackServer { _ in .ok("news") }
                defer { server.stop() }
                let feeds = """
                    {"features": [{"name": "news", "urls": ["\(server.url("/news"))"],
                                   "interval": 1}]}
                    """
                let file = try directory.write(Data(feeds.utf8), to: "feeds.json")
                func report(_ password: String, until text: String) async throws {
                    let secret = try directory.write(Data("\(password)\n".utf8), to: "password")
                    let run = try await DemoProcess.run(
                        "FeedDaemon",
                        [
                            "--quiet", "--config", file.path, "--fleet", "\(redis.endpoint)",
                            "--fleet-user", "feeds", "--fleet-password-file", secret.path,
                        ], [:]
                    ) { process, output in
                        try output.waitFor(text)
                        kill(process, SIGTERM)
                    }
                    #expect(run.status == 0)
                    let isShared = run.output.contains("shares its rates through Redis")
                    #expect(isShared == (password == "right"))
                }
                try await report("right", until: "shares its rates through Redis")
                try await report("wrong", until: "does not reach Redis")
            }

            @Test func `an address that is none of a Redis ends FeedDaemon as other mistakes do`()
                async throws
            {
                let run = try await DemoProcess.run("FeedDaemon", ["--fleet", "http://127.0.0.1"])
                #expect(run.status == 2)
                #expect(
                    run.errors == "FeedDaemon: --fleet needs the URL of a Redis: the URL does not "
                        + "begin with redis://, rediss:// or unix://; see --help\n")
            }

            @Test func `FeedDaemon is an origin that counts if it is told to be one`() async throws
            {
                let run = try await DemoProcess.run(
                    "FeedDaemon", ["--origin", "--duration", "0.1"])
                #expect(run.status == 0)
                let lines = run.output.split(separator: "\n")
                #expect(lines.count == 2 && lines.last == "requests: 0")
                #expect(lines.first?.hasPrefix("origin http://127.0.0.1:") == true)
            }
        }
    }
#endif
