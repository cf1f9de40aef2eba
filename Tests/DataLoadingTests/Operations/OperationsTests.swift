// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

#if os(Linux)
    extension SocketTests {
        /// A daemon's operations as a whole: a service, its metrics, its log, and systemd.
        @Suite(.timeLimit(.minutes(30))) struct OperationsTests {
            private let directory = TemporaryDirectory()

            /// A service with a scripted transport, watched.
            private func scene(
                _ answers: [ScriptedAnswer] = [], environment: [String: String] = [:],
                clock: ManualClock? = nil,
                _ configure: (inout OperationsConfiguration) -> Void = { _ in }
            ) -> (Operations, DataLoaderService, ScriptedTransport) {
                let transport = ScriptedTransport(answers, otherwise: .respond(status: 200))
                var configuration = DataLoaderService.Configuration()
                configuration.transport = transport
                configuration.rateLimiter.setRequestsPerSecond(
                    1_000, burst: 1_000, forHostOf: testURL("https://api.test/"))
                configuration.rateLimiter.setRequestsPerSecond(
                    500, burst: 100, forPathOf: testURL("https://api.test/slow"))
                var settings = OperationsConfiguration(environment: environment)
                settings.serviceName = "feeds"
                configure(&settings)
                let operations = Operations(settings, instrumenting: &configuration)
                let service =
                    clock.map { DataLoaderService(configuration: configuration, clock: $0) }
                    ?? DataLoaderService(configuration: configuration)
                return (operations, service, transport)
            }

            private func load(
                _ service: DataLoaderService, _ url: String, trace: TraceContext? = nil
            ) async -> DataLoaderError? {
                let loader = service.makeFactory().makeDataLoader()
                var request = DataLoaderRequest(url: testURL(url))
                request.sourceIdentifier = "feed"
                if let trace { request[option: TraceParent.self] = trace }
                do {
                    _ = try await loader.response(for: request)
                    return nil
                } catch {
                    return error as? DataLoaderError
                }
            }

            private func samples(_ operations: Operations, _ name: String)
                -> [ExpositionParser.Sample]
            {
                ExpositionParser.samples(of: Array(operations.exposition().body))
                    .filter { $0.name == name }
            }

            @Test func `loads, attempts, rates and queues are in the exposition`() async throws {
                let (operations, service, _) = scene([.fail(.tls), .respond(status: 200)])
                try operations.start(for: service)
                #expect(await load(service, "https://api.test/a") == .tls)
                #expect(await load(service, "https://api.test/slow/b") == nil)
                await operations.shutDown(gracePeriod: .zero)
                let attempts = samples(operations, "http_client_request_duration_seconds_count")
                #expect(attempts.count == 2)
                #expect(attempts.allSatisfy { $0.labels["server_address"] == "api.test" })
                let loads = samples(operations, "dataloading_load_duration_seconds_count")
                #expect(
                    Set(loads.map { $0.labels["dataloading_outcome"] }) == ["failure", "success"])
                let admitted = samples(operations, "dataloading_rate_admitted_total")
                #expect(
                    Dictionary(
                        uniqueKeysWithValues: admitted.map {
                            ($0.labels["dataloading_rule"] ?? "", $0.value)
                        }) == ["": 1, "slow": 1])
                #expect(
                    Set(samples(operations, "dataloading_rate_limit_per_second").map(\.value))
                        == [1_000, 500])
                #expect(samples(operations, "dataloading_queue_capacity").map(\.value) == [10_000])
                #expect(samples(operations, "target_info").first?.labels["service_name"] == "feeds")
            }

            @Test func `every attempt is a span of its own, and no other origin learns of it`()
                async throws
            {
                let (operations, service, transport) = scene([
                    .respond(status: 302, headers: ["Location": "/b"]),
                    .respond(status: 302, headers: ["Location": "https://other.test/c"]),
                    .respond(status: 302, headers: ["Location": "https://api.test/d"]),
                ])
                try operations.start(for: service)
                let trace = TraceContext.makeRoot()
                #expect(await load(service, "https://api.test/a", trace: trace) == nil)
                let fields = transport.attempts.map { $0.request.headers["traceparent"] }
                let spans = fields.compactMap { $0.flatMap { TraceContext(traceparent: $0) } }
                #expect(fields.map { $0 == nil } == [false, false, true, true])
                #expect(Set(spans.map(\.traceparent)).count == 2)
                #expect(
                    spans.allSatisfy { $0.traceparent.prefix(35) == trace.traceparent.prefix(35) })
                #expect(!spans.map(\.traceparent).contains(trace.traceparent))
                let text = String(
                    decoding: operations.exposition(
                        accepting: "application/openmetrics-text; version=1.0.0"
                    ).body, as: UTF8.self)
                #expect(text.contains("trace_id=\"\(trace.traceparent.dropFirst(3).prefix(32))\""))
                await operations.shutDown(gracePeriod: .zero)
            }

            @Test func `a field that the request sets itself stays`() async throws {
                let (operations, service, transport) = scene()
                try operations.start(for: service)
                var request = DataLoaderRequest(url: testURL("https://api.test/"))
                request.headers["traceparent"] = "own"
                request[option: TraceParent.self] = TraceContext.makeRoot()
                _ = try await service.makeFactory().makeDataLoader().response(for: request)
                #expect(transport.attempts.map { $0.request.headers["traceparent"] } == ["own"])
                #expect(transport.attempts.map { $0.request.headers["tracestate"] } == [nil])
                await operations.shutDown(gracePeriod: .zero)
            }

            @Test func `the log has a line for each load when the service has ended`() async throws
            {
                let path = directory.url("access.log").path
                let (operations, service, _) = scene { $0.log = AccessLog(.json, to: .file(path)) }
                try operations.start(for: service)
                for number in 0..<50 { _ = await load(service, "https://api.test/\(number)") }
                try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
                operations.reopenLog()
                for number in 50..<80 { _ = await load(service, "https://api.test/\(number)") }
                await operations.shutDown(gracePeriod: .zero)
                let lines = try [path + ".1", path].map {
                    try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n")
                }
                #expect(lines.map(\.count).reduce(0, +) == 80)
                #expect(lines.joined().allSatisfy { $0.contains("\"source\":\"feed\"") })
                #expect(samples(operations, "dataloading_log_dropped_total").map(\.value) == [0])
            }

            @Test func `a shut-down that meets a start undoes it, or ends what has started`()
                async throws
            {
                for _ in 0..<100 {
                    let (operations, service, _) = scene { settings in
                        settings.endpoint = .loopback(
                            port: 0, token: String(repeating: "t", count: 32))
                    }
                    let end = Task.detached { await operations.shutDown(gracePeriod: .zero) }
                    let error: OperationsError?
                    do throws(OperationsError) {
                        try operations.start(for: service)
                        error = nil
                    } catch let failure {
                        error = failure
                    }
                    let left = await end.value
                    // The shut-down came before the start, amid it, or after it.
                    #expect(error == nil || (error == .shutDown && left == nil))
                    #expect((operations.endpointURL != nil) == (error == nil && left == nil))
                    await operations.shutDown(gracePeriod: .zero)
                    #expect(operations.endpointURL == nil)
                    #expect(throws: OperationsError.self) { try operations.start(for: service) }
                }
            }

            @Test func `a service that shares its rates tells how many daemons do`() async throws {
                // After a second the expected number gives way to the real one.
                let clock = ManualClock()
                let quota = SharedQuota(clock: clock)
                let (operations, service, _) = scene(clock: clock)
                try operations.start(for: service)
                #expect(samples(operations, "dataloading_fleet_members").isEmpty)
                service.rateLimiter.share(through: quota.makeMember("a"), expectedMembers: 3)
                await eventually { samples(operations, "dataloading_fleet_members").count == 1 }
                #expect(samples(operations, "dataloading_fleet_members").map(\.value) == [3])
                #expect(samples(operations, "dataloading_fleet_shared").map(\.value) == [1])
                await operations.shutDown(gracePeriod: .zero)
            }

            @Test func `the counters of more rules than a snapshot shows are all there`()
                async throws
            {
                let (operations, service, _) = scene()
                for part in 0..<100 {
                    service.rateLimiter.setRequestsPerSecond(
                        1_000, burst: 10, forPathOf: testURL("https://api.test/\(part)"))
                }
                try operations.start(for: service)
                for part in 0..<100 {
                    #expect(await load(service, "https://api.test/\(part)/a") == nil)
                }
                let admitted = samples(operations, "dataloading_rate_admitted_total")
                let parts = Set(
                    admitted.filter { $0.value == 1 }.compactMap { $0.labels["dataloading_rule"] })
                #expect(service.snapshot().otherRules > 0)
                #expect(parts.count == 100)
                await operations.shutDown(gracePeriod: .zero)
            }

            @Test func `a log that cannot be opened is an error, and another start may follow`()
                async throws
            {
                let path = directory.url("missing/access.log").path
                let (operations, service, _) = scene {
                    $0.log = AccessLog(.logfmt, to: .file(path))
                }
                let error = #expect(throws: OperationsError.self) {
                    try operations.start(for: service)
                }
                #expect(error == .log(path: path, reason: "No such file or directory"))
                try FileManager.default.createDirectory(
                    atPath: directory.url("missing").path, withIntermediateDirectories: false)
                try operations.start(for: service)
                #expect(throws: OperationsError.startedBefore) {
                    try operations.start(for: service)
                }
                await operations.shutDown(gracePeriod: .zero)
                #expect(throws: OperationsError.startedBefore) {
                    try operations.start(for: service)
                }
            }

            @Test func `systemd is told of start, reload and end, and the metrics of reloads`()
                async throws
            {
                struct Malformed: Error {}
                let listener = try #require(NotifyListener(directory.url("notify").path))
                let (operations, service, _) = scene(environment: listener.environment)
                operations.reload {}
                try operations.start(for: service)
                operations.reload {}
                #expect(
                    samples(operations, "dataloading_config_reload_successful").map(\.value) == [1])
                #expect(throws: Malformed.self) { try operations.reload { throw Malformed() } }
                #expect(
                    samples(operations, "dataloading_config_reload_successful").map(\.value) == [0])
                operations.showStatus("going")
                await operations.shutDown(gracePeriod: .zero)
                await operations.shutDown(gracePeriod: .zero)
                let messages = await listener.first(8).map { $0.split(separator: "\n").first ?? "" }
                #expect(
                    messages == [
                        "READY=1", "RELOADING=1", "READY=1", "RELOADING=1", "READY=1",
                        "STATUS=going",
                        "STOPPING=1", "EXTEND_TIMEOUT_USEC=35000000",
                    ])
                #expect(listener.rest().isEmpty)
            }

            @Test func `the echo of the watchdog waits behind what blocks the transport's thread`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok("fine") }
                let service = DataLoaderService()
                let loader = service.makeFactory().makeDataLoader()
                _ = try await loader.response(for: DataLoaderRequest(url: server.url()))
                let mayGoOn = DispatchSemaphore(value: 0)
                let isBack = Locked(false)
                let executor = try #require(service.taskExecutor)
                let blocked = Task(executorPreference: executor) { mayGoOn.block() }
                let echo = service.transportEcho
                let waiting = Task {
                    await echo()
                    isBack.withLock { $0 = true }
                }
                #expect(!isBack.withLock { $0 })
                mayGoOn.signal()
                await blocked.value
                await waiting.value
                #expect(isBack.withLock { $0 })
                await service.shutDown(gracePeriod: .zero)
            }
        }
    }

    extension DispatchSemaphore {
        /// Blocks a thread on purpose.
        fileprivate func block() { wait() }
    }
#endif
