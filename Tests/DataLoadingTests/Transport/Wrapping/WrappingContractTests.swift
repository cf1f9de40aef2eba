// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// The transports that wrap others, against the contract of every transport.
        @Suite(.timeLimit(.minutes(10))) struct WrappingContractTests {
            @Test func `the check accepts throttled transports, one around another`() async throws {
                let inner = ThrottledTransport(CurlTransport(), maximumInFlight: 4)
                try await checkTransport(
                    ThrottledTransport(inner, maximumInFlight: 1), limit: .seconds(60))
            }

            @Test func `the check accepts a peer that loads with a loader of its own`() async throws
            {
                let transport = PeerTransport { request in
                    var configuration = DataLoaderService.Configuration()
                    // Its own, so that no connection is left from the attempt before.
                    configuration.transport = CurlTransport()
                    let service = DataLoaderService(configuration: configuration)
                    var load = DataLoaderRequest(url: request.url)
                    load.redirectPolicy = .doNotFollow
                    let loader = service.makeFactory().makeDataLoader()
                    let chunks = loader.chunks(for: load).makeAsyncIterator()
                    let response = try await chunks.response()
                    let head = DataLoading.ResponseHead(
                        status: response.statusCode ?? .ok, headers: response.headers)
                    let pieces = AsyncThrowingStream<Data, any Error> {
                        do {
                            return try await chunks.next()
                        } catch let error as DataLoaderError {
                            // The status is in the head.
                            if case .status = error.kind { return nil }
                            throw error
                        }
                    }
                    return PeerResponse(head, pieces: pieces)
                }
                try await checkTransport(
                    ThrottledTransport(transport, maximumInFlight: 2), limit: .seconds(60))
            }
        }
    }
#endif
