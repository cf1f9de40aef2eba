// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        // GHSA-2xpw-w6gg-jr37, GHSA-38jv-5279-wg99, GHSA-mf9v-mfxr-j63j, GHSA-gm62-xv2j-4w53,
        // CVE-2022-32206.
        @Suite struct SecurityTestsBombs {
            private static let bomb = LoopbackPayload.gzipBomb(inflatedCount: 2_000_000_000)

            private static func explosive(_ status: Int, _ fields: HTTPHeaders = [:])
                -> LoopbackResponse
            {
                var headers = fields
                headers["Content-Encoding"] = "gzip"
                return .status(status, headers: headers, body: bomb)
            }

            /// Loads from a server that answers with the bomb and then with a short text.
            private func load(
                _ first: LoopbackResponse, _ change: (inout DataLoaderRequest) -> Void = { _ in }
            ) async throws -> DataLoaderResponse {
                let server = try LoopbackServer(handler: .sequence([first, .ok("fine")]))
                let service = DataLoaderService()
                let factory = service.makeFactory(authorisers: [TestAuthoriser()])
                var request = DataLoaderRequest(url: server.url("/a"))
                change(&request)
                let response = try await factory.makeDataLoader().response(for: request)
                await service.shutDown(gracePeriod: .zero)
                return response
            }

            @Test(arguments: [301, 302, 303, 307, 308, 401, 503])
            func `a gzip bomb in a body that is not delivered is not inflated`(status: Int)
                async throws
            {
                let response = try await load(Self.explosive(status, ["Location": "/b"])) {
                    $0.retryPolicy = .immediately(maximumRetries: 1)
                }
                #expect(response.statusCode == .ok)
                #expect(response.body == Data("fine".utf8))
                #expect(response.metrics.attempts == 2)
                #expect(response.metrics.decodedBytes < 1_048_576)
            }

            @Test(arguments: [200, 302, 404])
            func `a gzip bomb in the delivered body ends at the limit`(status: Int) async throws {
                await #expect(throws: DataLoaderError.bodyTooLarge(limit: 33_554_432)) {
                    _ = try await load(Self.explosive(status)) {
                        $0.redirectPolicy = .doNotFollow
                    }
                }
            }

            @Test func `a body with more than five codings is refused undecoded`() async throws {
                let codings = Array(repeating: "gzip", count: 6).joined(separator: ", ")
                let answer = LoopbackResponse.status(
                    200, headers: ["Content-Encoding": codings], body: Self.bomb)
                await #expect(throws: DataLoaderError.decode(reason: "too many codings")) {
                    _ = try await load(answer)
                }
            }

            @Test func `a gzip bomb in chunks is inflated only as fast as it is read`() async throws
            {
                let server = try LoopbackServer { _ in Self.explosive(200) }
                let service = DataLoaderService()
                let loader = service.makeFactory().makeDataLoader()
                var count = 0
                for try await chunk in loader.chunks(for: DataLoaderRequest(url: server.url())) {
                    #expect(chunk.count <= 262_144)
                    count += chunk.count
                    if count > 10_000_000 { break }
                }
                #expect(count > 10_000_000)
                await service.shutDown(gracePeriod: .zero)
            }
        }
    }
#endif
