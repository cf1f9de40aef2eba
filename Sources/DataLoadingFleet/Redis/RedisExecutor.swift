// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Runs the jobs of tasks on the thread of a client while it serves a connection, else elsewhere.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class RedisExecutor: TaskExecutor {
    private let core: RedisCore

    init(_ core: RedisCore) {
        self.core = core
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        core.runOnThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
