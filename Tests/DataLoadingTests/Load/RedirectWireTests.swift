// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        // The request target that a server reads after its redirect.
        @Suite struct RedirectWireTests {
            @Test(arguments: [
                ("/a|b", "/a|b"), ("/%zz%2F", "/%zz%2F"), ("/x/../y/./z?q=/../", "/y/z?q=/../"),
                ("b?c", "/d/b?c"), ("../e", "/e"), ("?x", "/d/start?x"), ("/{}^`[]", "/{}^`[]"),
                ("/a\\b", "/a\\b"), ("ABS/p/./q/../r", "/p/r"), ("ABS/%2e%2e/x", "/%2e%2e/x"),
                ("ABS", "/"), ("ABS?q", "/?q"), ("/a//b", "/a//b"), ("/x#frag", "/x"),
            ])
            func `a redirect target reaches the server byte for byte as it resolves`(
                location: String, target: String
            )
                async throws
            {
                let server = try LoopbackServer { request in
                    guard request.path == "/d/start", request.query == nil else { return .ok() }
                    let origin = "http://" + (request.headers["Host"] ?? "")
                    let location = location.replacing("ABS", with: origin)
                    return .status(302, headers: ["Location": location])
                }
                let service = DataLoaderService()
                let loader = service.makeFactory().makeDataLoader()
                let response = try await loader.response(
                    for: DataLoaderRequest(url: server.url("/d/start")))
                #expect(response.statusCode == .ok)
                #expect(server.requests.map(\.target) == ["/d/start", target])
                await service.shutDown(gracePeriod: .zero)
            }
        }
    }
#endif
