// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Errors of a status, from code that has no response for them.
@Suite struct ThrownStatusTests {
    private enum Source: CaseIterable {
        case interceptor, transport
    }

    private static let refused = DataLoaderError.status(HTTPStatus(rawValue: 403))

    private func bed(_ source: Source) -> TestBed {
        switch source {
        case .interceptor:
            TestBed(
                otherwise: .respond(status: 403, body: Data("no".utf8)),
                interceptors: [
                    Intercept { request, next in
                        let response = try await next(request)
                        try response.validateStatusCode()
                        return response
                    }
                ])
        case .transport:
            TestBed { $0.transport = PeerTransport { _ in throw Self.refused } }
        }
    }

    @Test(arguments: Source.allCases)
    private func `a status that is thrown is never taken for a whole response`(
        source: Source
    ) async throws {
        let loader = bed(source).loader
        await #expect(throws: Self.refused) { try await loader.response(for: .make()) }
        await #expect(throws: Self.refused) { try await loader.value(for: Request<Void>(.make())) }
        await #expect(throws: Self.refused) { try await loader.value(for: Request<Data>(.make())) }
        let call = loader.request(testURL("http://origin.test/"))
        await #expect(throws: Self.refused) { try await call.responseData() }
        let checked = loader.request(testURL("http://origin.test/")).validateStatusCode()
        await #expect(throws: Self.refused) { try await checked.responseData() }
    }

    @Test func `a status that an interceptor throws keeps the body for the owner alone`()
        async throws
    {
        let bed = bed(.interceptor)
        let thrown = await #expect(throws: Self.refused) {
            try await bed.loader.response(for: .make())
        }
        #expect(thrown?.body == Data("no".utf8))
        let seen = await bed.observer.entries(1)[0].response
        #expect(seen.error == Self.refused)
        #expect(seen.error?.body == nil)
    }

    @Test func `loads that share a refused request keep its body from observers`() async throws {
        let bed = TestBed()
        let request = DataLoaderRequest.make { $0.coalescing = .sameRequest }
        for _ in 0..<2 { bed.loader.perform(request) }
        let attempt = await bed.attempt(0)
        bed.settle()
        attempt.respond(status: 403, body: Data("no".utf8))
        let outcomes = await bed.delegate.outcomes(2)
        #expect(bed.transport.attempts.count == 1)
        #expect(outcomes.map { $0.response?.error?.body } == [Data("no".utf8), Data("no".utf8)])
        let seen = await bed.observer.entries(2)
        #expect(seen.map(\.response.error) == [Self.refused, Self.refused])
        #expect(seen.allSatisfy { $0.response.error?.body == nil })
    }
}
