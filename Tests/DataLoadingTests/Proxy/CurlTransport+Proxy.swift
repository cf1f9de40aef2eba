// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    @testable import DataLoadingCurl
    @testable import DataLoadingTransport
    import DataLoadingTesting

    extension CurlTransport {
        /// A transport that finds the address of `proxy.test` and of no other name.
        static func findingProxy(
            _ asked: EventRecorder<String>? = nil, lacking: Set<CurlLibrary.Ability> = []
        ) -> CurlTransport {
            CurlTransport(
                lacking: lacking,
                lookup: { name in
                    asked?.record(name)
                    return name == "proxy.test" ? .addresses(["127.0.0.1"]) : .unknown
                })
        }
    }

    extension Proxy {
        /// The server as a proxy by the name that only a lookup finds.
        static func findable(_ server: LoopbackServer) throws -> Proxy {
            try Proxy("http://proxy.test:\(server.port)", directHosts: [])
        }
    }
#endif
