// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import Dispatch

/// Runs tasks on a queue: on a serial one in the order in which they are made or resumed.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
package final class QueueExecutor: TaskExecutor {
    private let queue: DispatchQueue

    package init(_ queue: DispatchQueue) {
        self.queue = queue
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

extension DispatchQueue {
    /// Makes a task that runs on this serial queue, or on any thread where the system is too old
    /// for that.
    package func task(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
            return Task { await body() }
        }
        return Task(executorPreference: QueueExecutor(self)) { await body() }
    }
}
