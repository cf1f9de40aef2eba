// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// DataLoading with `chunks(for:)`, and with `response(for:)` for what is sent.
final class ChunkTransfers: TransferClient {
    private let service: DataLoaderService
    private let loader: DataLoader

    init(streams: Int) {
        service = Self.makeService(streams: streams)
        loader = service.makeFactory().makeDataLoader()
    }

    func download(_ url: String, _ pace: Pace?) async throws -> Int {
        let start = ContinuousClock.now
        var count = 0
        for try await chunk in loader.chunks(for: try Self.request(url)) {
            count += chunk.count
            if let pace, try await !pace.wait(after: count, since: start) { break }
        }
        return count
    }

    func upload(_ file: String, of size: Int, to url: String) async throws {
        var request = try Self.request(url)
        request.method = .post
        request.body = .file(URL(fileURLWithPath: file))
        _ = try await loader.response(for: request)
    }

    static func makeService(streams: Int) -> DataLoaderService {
        var configuration = DataLoaderService.Configuration()
        configuration.limits.perOrigin = streams
        configuration.limits.total = streams
        return DataLoaderService(configuration: configuration)
    }

    static func request(_ url: String) throws -> DataLoaderRequest {
        guard let url = URL(string: url) else { throw Complaint("\(url) is no URL") }
        var request = DataLoaderRequest(url: url, sourceIdentifier: "benchmark")
        request.timeout = .seconds(600)
        return request
    }
}
