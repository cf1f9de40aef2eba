// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingSupport
    import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Memory is bounded whatever the server sends.
        ///
        /// Each test runs in a process of its own.
        @Suite struct BoundedMemoryTests {
            @Test func `600 MB in chunks for a slow delegate stay below 32 MiB and lose no byte`()
                async
            {
                await #expect(processExitsWith: .success) {
                    let size: Int64 = 600_000_000
                    let server = try LoopbackServer { _ in
                        .steps(
                            .head(200, headers: ["Transfer-Encoding": "chunked"]),
                            .chunks(.pattern(size)), .lastChunk())
                    }
                    let delegate = SlowReader(size: size)
                    let loader = DataLoaderService().makeFactory().makeDataLoader(
                        delegate: delegate)
                    let before = ProcessFigures.residentBytes
                    var request = DataLoaderRequest(url: server.url("/big"))
                    request.chunks = true
                    loader.perform(request)
                    let result = await delegate.result()
                    guard result.isWhole else { exit(2) }
                    guard result.received == size else { exit(3) }
                    guard ProcessFigures.isSanitized || result.peak - before < 32 * 1_048_576
                    else { exit(4) }
                }
            }

            @Test func `a gzip bomb of 2 GB is stopped at the body limit`() async {
                await #expect(processExitsWith: .success) {
                    let server = try LoopbackServer { _ in
                        .ok(
                            .gzipBomb(inflatedCount: 2_000_000_000),
                            headers: ["Content-Encoding": "gzip"])
                    }
                    let loader = DataLoaderService().makeFactory().makeDataLoader()
                    let before = ProcessFigures.residentBytes
                    do {
                        _ = try await loader.response(
                            for: DataLoaderRequest(url: server.url("/bomb")))
                        exit(2)
                    } catch let error as DataLoaderError {
                        guard error == .bodyTooLarge(limit: 33_554_432) else { exit(3) }
                    }
                    let grown = ProcessFigures.residentBytes - before
                    // The body that was refused may have used memory up to the limit.
                    guard ProcessFigures.isSanitized || grown < 96 * 1_048_576 else { exit(4) }
                }
            }

            @Test func `a declared length of 60 GB allocates nothing`() async {
                await #expect(processExitsWith: .success) {
                    let server = try LoopbackServer { _ in
                        .status(200, headers: ["Content-Length": "60000000000"], body: "12345")
                            .followed(by: .close)
                    }
                    var configuration = DataLoaderService.Configuration()
                    configuration.limits.body = .max
                    let service = DataLoaderService(configuration: configuration)
                    let loader = service.makeFactory().makeDataLoader()
                    let before = ProcessFigures.residentBytes
                    do {
                        _ = try await loader.response(
                            for: DataLoaderRequest(url: server.url("/claim")))
                        exit(2)
                    } catch let error as DataLoaderError {
                        guard error == .truncatedBody else { exit(3) }
                    }
                    let grown = ProcessFigures.residentBytes - before
                    guard ProcessFigures.isSanitized || grown < 16 * 1_048_576 else { exit(4) }
                }
            }
        }
    }

    /// Reads a pattern in chunks, checks each byte and sleeps now and then.
    private final class SlowReader: DataLoaderChunkDelegate {
        struct Result: Sendable {
            var received: Int64 = 0
            var isWhole = true
            var peak = 0
            var chunks = 0
        }

        private let size: Int64
        private let state = Locked(Result())
        private let done = EventRecorder<Result>()

        init(size: Int64) {
            self.size = size
        }

        func result() async -> Result {
            await done.first(1).first ?? Result()
        }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveInitialResponse response: DataLoaderResponse
        ) {}

        func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {}

        func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool { true }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
            forResponse response: DataLoaderResponse
        ) {
            let isSampled = state.withLock { state in
                if !LoopbackPayload.patternMatches(data, at: state.received) {
                    state.isWhole = false
                }
                state.received += Int64(data.count)
                state.chunks += 1
                return state.chunks % 64 == 0
            }
            guard isSampled else { return }
            // The reader sleeps, so that the window fills up.
            usleep(2_000)
            let resident = ProcessFigures.residentBytes
            state.withLock { $0.peak = max($0.peak, resident) }
        }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
        ) {
            done.record(state.withLock { $0 })
        }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
        ) {
            var failed = state.withLock { $0 }
            failed.isWhole = false
            done.record(failed)
        }
    }
#endif
