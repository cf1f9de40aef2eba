// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples in the article about interceptors and transports that wrap others.

struct ClientVersion: Interceptor {
    let version: String

    func intercept(
        _ request: DataLoaderRequest, next: NextLoad
    ) async throws -> DataLoaderResponse {
        var request = request
        request.headers["X-Client-Version"] = version
        return try await next(request)
    }
}

struct ServerEnvironment: RequestOption, Sendable {
    let host: String
    var pathPrefix = ""

    static let defaultValue: ServerEnvironment? = nil
}

struct ApplyEnvironment: Interceptor {
    let usual: ServerEnvironment

    func intercept(
        _ request: DataLoaderRequest, next: NextLoad
    ) async throws -> DataLoaderResponse {
        let environment = request[option: ServerEnvironment.self] ?? usual
        var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
        parts?.scheme = "https"
        parts?.host = environment.host
        parts?.path = environment.pathPrefix + request.url.path
        guard let url = parts?.url else { throw DataLoaderError.invalidRequest(.host) }
        var request = request
        request.url = url
        return try await next(request)
    }
}

struct CannedAnswers: Interceptor {
    let bodies: [String: Data]

    func intercept(
        _ request: DataLoaderRequest, next: NextLoad
    ) async throws -> DataLoaderResponse {
        guard let body = bodies[request.url.path] else { return try await next(request) }
        return DataLoaderResponse(request: request, statusCode: .ok, body: body)
    }
}

struct UntilLimitResets: RetryPolicy {
    var now: @Sendable () -> Date = { Date() }

    func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
        guard n <= 2, outcome.status == .tooManyRequests,
            let epoch = outcome.headers["X-Rate-Limit-Reset"].flatMap({ Int64($0) }),
            (0...4_102_444_800).contains(epoch)
        else { return nil }
        return max(.zero, .seconds(Double(epoch) - now().timeIntervalSince1970))
    }
}

struct NightShift {
    let throttle: ThrottledTransport

    func clockStruck(hour: Int) {
        throttle.maximumInFlight = (1..<6).contains(hour) ? 0 : 4
    }
}

@Suite struct InterceptorSamples {
    @Test func `the sample of an interceptor that changes requests adds a field`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        let service = bed.service
        let factory = service.makeFactory(interceptors: [ClientVersion(version: "2.1")])
        _ = try await factory.makeDataLoader().response(for: .make())
        #expect(bed.transport.attempts[0].request.headers["X-Client-Version"] == "2.1")
    }

    @Test func `the sample of an environment replaces the host, and a request may choose another`()
        async throws
    {
        let bed = TestBed(otherwise: .respond(status: 200))
        let service = bed.service
        let staging = ServerEnvironment(host: "staging.example.com", pathPrefix: "/v2")
        let environment = ApplyEnvironment(usual: ServerEnvironment(host: "api.example.com"))
        let loader = service.makeFactory(interceptors: [environment]).makeDataLoader()
        var request = DataLoaderRequest(url: testURL("/people?page=2"))
        _ = try await loader.response(for: request)
        request[option: ServerEnvironment.self] = staging
        _ = try await loader.response(for: request)
        #expect(
            bed.transport.attempts.map(\.request.url.absoluteString) == [
                "https://api.example.com/people?page=2",
                "https://staging.example.com/v2/people?page=2",
            ])
    }

    @Test func `the sample of canned answers sends only what it does not know`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200, body: Data("sent".utf8)))
        let answers = CannedAnswers(bodies: ["/motd": Data("hello".utf8)])
        let loader = bed.service.makeFactory(interceptors: [answers]).makeDataLoader()
        #expect(try await loader.response(for: .make("/motd")).body == Data("hello".utf8))
        #expect(try await loader.response(for: .make("/other")).body == Data("sent".utf8))
        #expect(bed.transport.attempts.map(\.request.url.path) == ["/other"])
    }

    @Test func `the policies for a limit that resets wait for its time, own and built in`()
        async throws
    {
        for isBuiltIn in [false, true] {
            let clock = ManualClock()
            let reset = Int64(clock.date.timeIntervalSince1970.rounded(.up)) + 30
            let policy: any RetryPolicy =
                isBuiltIn
                ? BuiltInRetryPolicy.rateLimitHeader(maximumRetries: 2)
                : UntilLimitResets(now: { clock.date })
            let bed = TestBed(
                [.respond(status: 429, headers: ["x-rate-limit-reset": "\(reset)"])],
                otherwise: .respond(status: 200), clock: clock)
            var request = DataLoaderRequest.make()
            request.retryPolicy = policy
            bed.loader.perform(request)
            bed.settle()
            #expect(bed.transport.attempts.count == 1)
            let wait = Double(reset) - clock.date.timeIntervalSince1970
            bed.clock.advance(by: .seconds(max(0, wait)))
            #expect(await bed.outcome()?.response?.error == nil)
            #expect(bed.transport.attempts.count == 2)
        }
        let own = UntilLimitResets()
        for field in [nil, "soon", "-1", "99999999999999999999"] as [String?] {
            var outcome = AttemptOutcome(of: .make(), status: .tooManyRequests)
            outcome.headers["X-Rate-Limit-Reset"] = field
            #expect(own.delay(afterAttempt: 1, outcome: outcome) == nil)
        }
        var past = AttemptOutcome(of: .make(), status: .tooManyRequests)
        past.headers["X-Rate-Limit-Reset"] = "0"
        #expect(own.delay(afterAttempt: 1, outcome: past) == .zero)
        #expect(own.delay(afterAttempt: 3, outcome: past) == nil)
    }

    @Test func `the sample of a night shift pauses loads, and lets them go in the morning`() async {
        let transport = ScriptedTransport(otherwise: .respond(status: 200))
        let throttle = ThrottledTransport(transport, maximumInFlight: 4)
        throttle.maximumInFlight = 0
        let bed = TestBed { $0.transport = throttle }
        for _ in 0..<6 { bed.loader.perform(.make()) }
        bed.settle()
        #expect(transport.attempts.isEmpty)
        let shift = NightShift(throttle: throttle)
        shift.clockStruck(hour: 3)
        #expect(transport.attempts.isEmpty)
        shift.clockStruck(hour: 6)
        let outcomes = await bed.delegate.outcomes(6)
        #expect(outcomes.allSatisfy { $0.response?.error == nil })
        #expect(transport.attempts.count == 6)
    }

    @Test func `the sample of a peer answers from an archive`() async throws {
        struct Archive: Sendable {
            func body(of url: URL) async throws -> Data { Data(url.path.utf8) }
        }
        let archive = Archive()
        let transport = PeerTransport { request in
            PeerResponse(ResponseHead(status: .ok), body: try await archive.body(of: request.url))
        }
        let bed = TestBed { $0.transport = transport }
        // A peer has the system's clock, and its task may wait for a thread among all the tests.
        let request = DataLoaderRequest.make("/a") { $0.idleTimeout = .seconds(1_800) }
        #expect(try await bed.loader.response(for: request).body == Data("/a".utf8))
    }

    @Test func `an interceptor is tested alone, with a made next load`() async throws {
        let next: NextLoad = { request in
            DataLoaderResponse(request: request, statusCode: .ok)
        }
        let response = try await ClientVersion(version: "2.1").intercept(.make(), next: next)
        #expect(response.request.headers["X-Client-Version"] == "2.1")
    }

    /// The call as the documentation shows it.
    private func pass(
        _ request: DataLoaderRequest, to next: NextLoad
    ) async throws -> DataLoaderResponse {
        let response = try await next(request)
        return response
    }
}
