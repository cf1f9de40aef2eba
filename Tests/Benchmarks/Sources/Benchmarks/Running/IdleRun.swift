// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Dispatch
import Foundation

/// An idle daemon, in a child process: every loader has loaded once.
///
/// Without loaders it has used Dispatch, whose own threads wake up on Linux.
struct IdleRun: ChildWork {
    let url: String
    let loaders: Int
    /// The time limit of each load, whose alarm may still be set when the load has ended.
    let timeoutSeconds: Int

    /// The result of a child.
    struct Outcome: Codable, Sendable {
        /// Wake-ups of all threads but this one, per second.
        let wakeUps: Double
        /// The resident memory, in MiB.
        let memory: Double
        let threads: Int
    }

    static let option = "--child-idle"
    /// What is left to do after the last load is over by then.
    private static let settlingSeconds: UInt32 = 3
    private static let seconds: UInt32 = 10

    func perform() async throws -> Outcome {
        guard let url = URL(string: url) else { throw Complaint("\(url) is no URL") }
        let factory = loaders == 0 ? nil : DataLoaderService().makeFactory()
        let loaders = (0..<loaders).compactMap { _ in factory?.makeDataLoader() }
        DispatchQueue(label: "daemon").sync {}
        var request = DataLoaderRequest(url: url)
        request.timeout = .seconds(timeoutSeconds)
        for loader in loaders {
            _ = try await loader.response(for: request)
        }
        return try await withCheckedThrowingContinuation { continuation in
            // A thread of its own: one of the pool that blocks would wake the pool's manager.
            Thread.detachNewThread {
                continuation.resume(with: Result { try Self.watch() })
                withExtendedLifetime(loaders) {}
            }
        }
    }

    /// Watches the process while nothing happens.
    private static func watch() throws -> Outcome {
        sleep(settlingSeconds)
        let before = try ProcessStatus.wakeUpsOfOtherThreads()
        sleep(seconds)
        let after = try ProcessStatus.wakeUpsOfOtherThreads()
        // A thread that has ended meanwhile has not woken up for anything else.
        let wakeUps = after.map { thread, count in count - (before[thread] ?? 0) }.reduce(0, +)
        return Outcome(
            wakeUps: Double(wakeUps) / Double(seconds),
            memory: Double(ProcessStatus.residentBytes) / 1_048_576,
            threads: ProcessStatus.threads)
    }
}
