// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingAuth
@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

extension SocketTests {
    /// The endpoint over sockets.
    @Suite(.timeLimit(.minutes(5))) struct OperationsEndpointTests {
        @Test func `each path tells what it is for, with the fields that protect a browser`()
            async throws
        {
            let scene = try EndpointScene()
            let metrics = try scene.response(scene.get("/metrics", token: nil))
            #expect(metrics.status == "HTTP/1.1 200 OK")
            #expect(metrics.head.contains("\r\nContent-Type: text/plain; version=0.0.4"))
            #expect(metrics.text.contains("dataloading_queue_capacity"))
            let open = try scene.response(
                scene.get("/metrics", fields: "Accept: application/openmetrics-text\r\n"))
            #expect(open.text.hasSuffix("# EOF\n"))
            let snapshot = try scene.response(scene.get("/snapshot"))
            let json = try JSONSerialization.jsonObject(with: Data(snapshot.body)) as? [String: Any]
            let inside = json?["service"] as? [String: Any]
            #expect(inside?["stage"] as? String == "open")
            #expect((inside?["rules"] as? [[String: Any]])?.count == 1)
            // With all the other tests beside it an echo may take longer than a second.
            for path in ["/healthz", "/readyz"] {
                var answer = try await scene.load(path)
                while answer.status == 503, !Task.isCancelled {
                    answer = try await scene.load(path)
                }
                #expect(answer == (200, "ok\n"))
            }
            for response in [metrics, snapshot] {
                for field in [
                    "Date: ", "Cache-Control: no-store", "X-Content-Type-Options: nosniff",
                    "Content-Security-Policy: default-src 'none'", "Referrer-Policy: no-referrer",
                    "Cross-Origin-Opener-Policy: same-origin",
                    "Cross-Origin-Resource-Policy: same-origin",
                ] { #expect(response.head.contains("\r\n\(field)")) }
                #expect(!response.head.contains("Access-Control"))
            }
        }

        @Test func `what shows data needs the token, and nothing is answered under a foreign name`()
            throws
        {
            let scene = try EndpointScene { endpoint in
                endpoint.servesDashboard = true
                endpoint.protectsMetrics = true
            }
            let paths = [
                "/", "/events", "/snapshot", "/metrics", "/healthz", "/readyz", "/nothing",
            ]
            for path in paths {
                let response = try scene.response(scene.get(path, host: "evil.test"))
                #expect(
                    response.status == "HTTP/1.1 403 Forbidden" && response.text == "Forbidden\n")
            }
            for path in ["/events", "/snapshot", "/metrics"] {
                let response = try scene.response(scene.get(path, token: "wrong"))
                #expect(response.status == "HTTP/1.1 401 Unauthorized")
                #expect(response.head.contains("\r\nWWW-Authenticate: Bearer"))
                #expect(response.text == "Unauthorized\n")
            }
            #expect(try scene.response(scene.get("/", token: nil)).status == "HTTP/1.1 200 OK")
            #expect(
                try scene.response(scene.get("/metrics?token=\(EndpointScene.token)", token: nil))
                    .status == "HTTP/1.1 401 Unauthorized")
        }

        @Test func `without a dashboard there is none, and no path changes anything`() throws {
            let scene = try EndpointScene()
            for path in ["/", "/events", "/reload", "/metrics/", "//metrics"] {
                #expect(try scene.response(scene.get(path)).status == "HTTP/1.1 404 Not Found")
            }
            for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
                let response = try scene.response(scene.get("/metrics", method: method))
                #expect(response.status == "HTTP/1.1 405 Method Not Allowed")
                #expect(response.head.contains("\r\nAllow: GET, HEAD\r\n"))
                let foreign = scene.get("/metrics", method: method, host: "evil.test")
                #expect(try scene.response(foreign).status == "HTTP/1.1 403 Forbidden")
            }
        }

        @Test func `as many streams of events as may be keep no supervisor out`() async throws {
            let scene = try EndpointScene { $0.servesDashboard = true }
            let streams = try (0..<16).map { _ in try RawClient(port: scene.port) }
            for stream in streams {
                try stream.send(scene.get("/events"))
                // The page's first events have come, so that nothing is on its way.
                _ = try stream.read(64)
            }
            #expect(try await scene.load("/healthz").status == 200)
            withExtendedLifetime(streams) {}
        }

        @Test func `a connection serves requests one after the other, also those sent together`()
            throws
        {
            let scene = try EndpointScene()
            let client = try RawClient(port: scene.port)
            for _ in 0..<3 {
                try client.send(scene.get("/snapshot"))
                #expect(try client.response().text.hasPrefix("{\"service\":"))
            }
            try client.send(scene.get("/metrics") + scene.get("/snapshot") + scene.get("/nothing"))
            #expect(try client.response().text.contains("target_info"))
            #expect(try client.response().text.hasPrefix("{\"service\":"))
            #expect(try client.response().status == "HTTP/1.1 404 Not Found")
            try client.send(scene.get("/snapshot", method: "HEAD", fields: "Connection: close\r\n"))
            let (head, ending) = client.readToEnd()
            #expect(head.contains("\r\nContent-Length: ") && head.hasSuffix("\r\n\r\n"))
            #expect(ending == .closed)
        }

        @Test func `what is no request ends the connection with a status`() throws {
            let scene = try EndpointScene()
            let cases = [
                (scene.get("/snapshot") + "garbage\r\n\r\n", "400 Bad Request"),
                (scene.get("/", fields: "X: \(String(repeating: "x", count: 9_000))\r\n"), "431"),
                (scene.get("/", fields: "Content-Length: 5\r\n") + "abcde", "413"),
                (String(repeating: "x", count: 20_000), "431"),
            ]
            for (text, status) in cases {
                let client = try RawClient(port: scene.port)
                try client.send(text)
                let (answer, ending) = client.readToEnd()
                #expect(answer.contains("HTTP/1.1 \(status)") && ending == .closed)
            }
            #expect(try scene.response(scene.get("/snapshot")).status == "HTTP/1.1 200 OK")
        }

        @Test func `a head that does not come to its end is given up after five seconds`() throws {
            let clock = ManualClock()
            let scene = try EndpointScene(timekeeper: clock.timekeeper)
            let client = try RawClient(port: scene.port)
            try client.send("GET / HTTP/1.1\r\nHost")
            // The thread has read it when it answers somebody who came later.
            #expect(try scene.response(scene.get("/snapshot")).status == "HTTP/1.1 200 OK")
            clock.advance(by: .seconds(5))
            #expect(try scene.response(scene.get("/snapshot")).status == "HTTP/1.1 200 OK")
            let (answer, ending) = client.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout") && ending == .closed)
        }

        @Test func `silent connections keep nobody out`() throws {
            let scene = try EndpointScene()
            var silent: [RawClient] = []
            for _ in 0..<40 {
                silent.append(try RawClient(port: scene.port))
                try silent.last?.send("GET /")
            }
            #expect(try scene.response(scene.get("/snapshot")).status == "HTTP/1.1 200 OK")
            withExtendedLifetime(silent) {}
        }

        @Test func `many clients at once are all answered`() async throws {
            let scene = try EndpointScene()
            let origin = "http://127.0.0.1:\(scene.port)"
            let loader = DataLoaderService().makeFactory().makeDataLoader()
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<100 {
                    let path = number % 2 == 0 ? "/metrics" : "/snapshot"
                    group.addTask {
                        var request = DataLoaderRequest(url: testURL(origin + path))
                        request.headers["Authorization"] = "Bearer \(EndpointScene.token)"
                        let response = try await loader.response(for: request)
                        return response.statusCode == .ok && response.body?.isEmpty == false
                    }
                }
                for try await isAnswered in group { #expect(isAnswered) }
            }
        }

        @Test func `all who ask at once for its health hear that it works`() async throws {
            let scene = try EndpointScene()
            let operations = scene.operations
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<200 { group.addTask { await operations.health().isLive } }
                for await isLive in group { #expect(isLive) }
            }
        }

        @Test func `a service whose credential could not be fetched says so, and stays ready`()
            async throws
        {
            struct Unavailable: Error {}
            let scene = try EndpointScene()
            let token = TokenAuthoriser(hosts: ["api.test"]) { _ in throw Unavailable() }
            let loader = scene.service.makeFactory(authorisers: [token]).makeDataLoader()
            #expect(try await scene.load("/readyz") == (200, "ok\n"))
            let request = DataLoaderRequest(url: testURL("https://api.test/"))
            await #expect(throws: DataLoaderError.self) { try await loader.response(for: request) }
            let remark = "an authoriser could not get a credential"
            #expect(try await scene.load("/readyz") == (200, remark + "\n"))
            #expect(try await scene.load("/healthz") == (200, remark + "\n"))
            await scene.operations.shutDown(gracePeriod: .zero)
            #expect(await scene.operations.health().reasons.contains(remark) == false)
        }

        @Test(arguments: [
            (SharingState.Source.store, []),
            (.ownShare, ["the store of shared rates does not answer"]),
            (.none, ["the store of shared rates does not answer"]),
        ]) func `a lost store of shared rates is told`(
            source: SharingState.Source, remarks: [String]
        ) {
            let sharing = SharingState(source: source, present: 6, known: 8)
            #expect(HealthCheck.remarks(on: .make(sharing: sharing)) == remarks)
        }

        @Test func `the process is ready until it ends, and the endpoint ends with it`()
            async throws
        {
            let scene = try EndpointScene()
            while await !scene.operations.health().isReady, !Task.isCancelled {}
            await scene.operations.shutDown(gracePeriod: .zero)
            #expect(await scene.operations.health().isReady == false)
            #expect(throws: RawClient.Failure.self) { try RawClient(port: scene.port) }
        }

        @Test func `a port that is taken is an error that says so, and nothing else has started`()
            throws
        {
            let scene = try EndpointScene()
            var settings = OperationsConfiguration(environment: [:])
            settings.endpoint = .loopback(port: scene.port, token: EndpointScene.token)
            var configuration = DataLoaderService.Configuration()
            let operations = Operations(settings, instrumenting: &configuration)
            let service = DataLoaderService(configuration: configuration)
            do {
                try operations.start(for: service)
                Issue.record("It started.")
            } catch {
                #expect(
                    "\(error)" == "the endpoint cannot listen: 127.0.0.1:\(scene.port): "
                        + "bind: Address already in use")
            }
            #expect(operations.endpointURL == nil)
        }
    }
}
