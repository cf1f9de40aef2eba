// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation

    /// Releases loaders and services with loads on the wire.
    final class SocketChurn: Sendable {
        private let server: LoopbackServer
        private let delegate = ChurnDelegate()

        init() throws {
            var configuration = LoopbackServer.Configuration()
            configuration.recordLimit = 100
            server = try LoopbackServer(configuration) { request in
                switch request.path {
                case "/stall": .steps(.stall)
                case "/stream": .ok(.pattern(1 << 30))
                default: .ok("fine")
                }
            }
        }

        var connections: Int { server.connectionCount }

        func stop() { server.stop() }

        /// Makes loaders of one service and releases each at another point of its loads.
        func loaders(_ count: Int, _ generator: inout SeededGenerator) async throws {
            let service = makeService()
            let factory = service.makeFactory()
            for _ in 0..<count {
                let loader = factory.makeDataLoader(delegate: delegate, delivery: .ofTests)
                try await use(loader, &generator)
            }
            await service.shutDown(gracePeriod: .zero)
        }

        /// Makes services and ends them in one of three ways.
        func services(_ count: Int, _ generator: inout SeededGenerator) async throws {
            for index in 0..<count {
                let service = makeService()
                let loader = service.makeFactory().makeDataLoader(
                    delegate: delegate, delivery: .ofTests)
                try await use(loader, &generator)
                switch index % 3 {
                case 0: await service.shutDown(gracePeriod: .zero)
                case 1: service.invalidateAndCancel()
                default: break
                }
            }
        }

        private func makeService() -> DataLoaderService {
            var configuration = DataLoaderService.Configuration()
            configuration.transport = TracedTransport(
                next: CurlTransport(loops: .ofTests), tracer: FaultTracer())
            return DataLoaderService(configuration: configuration)
        }

        /// Performs one to three loads and in half of the cases waits until they are on the wire.
        private func use(_ loader: DataLoader, _ generator: inout SeededGenerator) async throws {
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let path = ["/stall", "/stream", "/fine"].randomElement(using: &generator) ?? "/"
                var request = request(path)
                request.chunks = path == "/stream"
                loader.perform(request)
            }
            guard Bool.random(using: &generator) else { return }
            // Attempts start in order: those before this one have started.
            _ = try await loader.response(for: request("/fine"))
        }

        private func request(_ path: String) -> DataLoaderRequest {
            var request = DataLoaderRequest(url: server.url(path))
            request[option: FaultTracer.self] = FaultTracer()
            return request
        }
    }

    /// A delegate that takes chunks and keeps nothing.
    private final class ChurnDelegate: DataLoaderChunkDelegate {
        func dataLoader(
            _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
        ) {}

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
        ) {}

        func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {}

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveInitialResponse response: DataLoaderResponse
        ) {}

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
            forResponse response: DataLoaderResponse
        ) {}

        func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool { true }
    }
#endif
