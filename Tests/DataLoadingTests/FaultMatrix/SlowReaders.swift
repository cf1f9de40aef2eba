// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingSupport
    import DataLoading
    import DataLoadingTesting
    import Foundation

    /// A fast server and 64 of its streams, which one task reads in turn at different paces.
    final class SlowReaders: Sendable {
        enum Failure: Error {
            case otherBytes(reader: Int), ended(reader: Int), small
        }

        static let count = 64

        /// What was observed while the streams were read.
        struct Observation: Sendable {
            /// The number of bytes that each reader took.
            var bytes = Array(repeating: Int64(0), count: SlowReaders.count)
            /// The longest wait for one piece.
            var longestWait = Duration.zero
            /// The times of the small loads in between.
            var smalls: [Duration] = []

            /// The median time of the small loads.
            var usualSmall: Duration {
                smalls.isEmpty ? .zero : smalls.sorted()[smalls.count / 2]
            }
        }

        private let server: LoopbackServer
        private let service: DataLoaderService
        private let loader: DataLoader
        private let readers: [DataChunks.Iterator]
        private let seen = Locked(Observation())

        init() throws {
            var configuration = LoopbackServer.Configuration()
            configuration.sendBufferSize = 65_536
            server = try LoopbackServer(configuration) { request in
                guard request.path == "/stream" else { return .ok("small") }
                return .ok(.pattern(1 << 40))
            }
            var limits = DataLoaderService.Configuration()
            limits.limits.perOrigin = 2 * Self.count
            limits.limits.total = 2 * Self.count
            service = DataLoaderService(configuration: limits)
            loader = service.makeFactory().makeDataLoader()
            let stream = DataLoaderRequest(url: server.url("/stream"))
            readers = (0..<Self.count).map { [loader] _ in
                loader.chunks(for: stream).makeAsyncIterator()
            }
        }

        var observation: Observation { seen.withLock { $0 } }

        /// Opens every stream; its window then fills up.
        func open() async throws {
            for reader in readers { _ = try await reader.response() }
        }

        /// Reads in rounds: some readers in each round, others in every second, third or fourth.
        func read(rounds: Range<Int>) async throws {
            for round in rounds {
                for (number, reader) in readers.enumerated() where round % (1 + number % 4) == 0 {
                    try await take(number, reader)
                }
                if round % 4 == 0 { try await loadSmall() }
            }
        }

        private func take(_ number: Int, _ reader: DataChunks.Iterator) async throws {
            let begun = ContinuousClock.now
            guard let piece = try await reader.next() else { throw Failure.ended(reader: number) }
            let time = ContinuousClock.now - begun
            let place = seen.withLock { seen in
                defer { seen.bytes[number] += Int64(piece.count) }
                seen.longestWait = max(seen.longestWait, time)
                return seen.bytes[number]
            }
            guard LoopbackPayload.patternMatches(piece, at: place) else {
                throw Failure.otherBytes(reader: number)
            }
        }

        /// Performs one more load beside the streams.
        func loadSmall() async throws {
            let begun = ContinuousClock.now
            let response = try await loader.response(
                for: DataLoaderRequest(url: server.url("/small")))
            guard response.body == Data("small".utf8) else { throw Failure.small }
            let time = ContinuousClock.now - begun
            seen.withLock { $0.smalls.append(time) }
        }

        /// Drops the observations from before the streams were opened.
        func forgetSmalls() { seen.withLock { $0.smalls = [] } }

        func close() async {
            await service.shutDown(gracePeriod: .zero)
            server.stop()
        }
    }
#endif
