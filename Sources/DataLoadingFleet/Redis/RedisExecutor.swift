// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Runs the jobs of tasks on the thread of a client while it serves a connection.
///
/// That thread may be blocked while it connects; jobs then run on a queue for all clients.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class RedisExecutor: TaskExecutor {
    private static let elsewhere = DispatchQueue(
        label: "DataLoading.leases", attributes: .concurrent)
    private let core: RedisCore

    init(_ core: RedisCore) {
        self.core = core
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let run = { @Sendable in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        if !core.runOnThread(run) { Self.elsewhere.async(execute: run) }
    }
}
