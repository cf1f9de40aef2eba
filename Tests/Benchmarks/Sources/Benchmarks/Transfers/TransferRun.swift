// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// One client's part of a round with large bodies, in a child process.
struct TransferRun: ChildWork {
    let contestant: Contestant
    let url: String
    /// A small body, which is loaded first so that everything is started.
    let smallURL: String
    let bodySize: Int
    /// How many bodies are moved at once.
    var streams = 1
    var pace: Pace?
    /// The file to send; nil to receive.
    var file: String?

    /// The result of a child.
    struct Outcome: Codable, Sendable {
        /// Bytes per second.
        let throughput: Double
        /// Milliseconds of processor time for each MiB.
        let cost: Double
        /// How much the memory grew at most, in MiB.
        let growth: Double
    }

    static let option = "--child-transfer"

    func perform() async throws -> Outcome {
        guard let client = contestant.makeTransferClient(streams: streams) else {
            throw Complaint("\(contestant.rawValue) moves no large bodies")
        }
        _ = try await client.download(smallURL, nil)
        let memory = ProcessStatus.residentBytes
        let (before, start) = (Usage.now, ContinuousClock.now)
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<streams { group.addTask { try await move(with: client) } }
            return try await group.reduce(0, +)
        }
        let used = Usage.now.processorTime - before.processorTime
        let size = Double(count)
        return Outcome(
            throughput: size / ((ContinuousClock.now - start) / .seconds(1)),
            cost: used * 1_000 / (size / 1_048_576),
            growth: Double(ProcessStatus.peakBytes - memory) / 1_048_576)
    }

    /// Moves one body and returns the number of bytes.
    private func move(with client: any TransferClient) async throws -> Int {
        if let file {
            try await client.upload(file, of: bodySize, to: url)
            return bodySize
        }
        let count = try await client.download(url, pace)
        guard pace != nil || count == bodySize else { throw Complaint("\(count) bytes arrived") }
        return count
    }
}
