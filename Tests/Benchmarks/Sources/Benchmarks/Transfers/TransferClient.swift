// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// A client that moves large bodies.
protocol TransferClient: Sendable {
    /// Reads a body and returns its size; a pace makes the reader wait and end early.
    func download(_ url: String, _ pace: Pace?) async throws -> Int
    /// Sends a file as the body of a POST.
    func upload(_ file: String, of size: Int, to url: String) async throws
}

/// A reader that takes so many bytes a second, for so long.
struct Pace: Codable, Sendable {
    let bytesPerSecond: Int
    let seconds: Int

    /// Waits until a reader who began then may have read so much; false when its time is over.
    func wait(after bytes: Int, since start: ContinuousClock.Instant) async throws -> Bool {
        let due = start + .seconds(Double(bytes) / Double(bytesPerSecond))
        let isOver = due > start + .seconds(seconds) || .now > start + .seconds(seconds)
        if isOver { return false }
        if due > .now { try await Task.sleep(until: due, clock: .continuous) }
        return true
    }
}

extension Contestant {
    /// Makes the client for large bodies; nil when there is none.
    func makeTransferClient(streams: Int) -> (any TransferClient)? {
        switch self {
        case .dataLoading: return ChunkDelegateTransfers(streams: streams, delivery: .queue)
        case .direct: return ChunkDelegateTransfers(streams: streams, delivery: .direct)
        case .awaited, .executed: return ChunkTransfers(streams: streams)
        case .libcurl: return BareCurlTransfers()
        case .asyncHTTPClient:
            #if BENCHMARK_PEERS
                return AsyncHTTPClientTransfers(streams: streams)
            #else
                return nil
            #endif
        case .epoll, .tuned, .urlSession: return nil
        }
    }
}
