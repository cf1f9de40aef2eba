// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch

/// Runs the jobs of tasks on the thread of a transport's loop: that on which a task is resumed.
final class LoopExecutor: TaskExecutor {
    /// A job that the loop runs.
    struct Job: Sendable {
        fileprivate let job: UnownedJob
        fileprivate let executor: LoopExecutor

        func run() {
            job.runSynchronously(on: executor.asUnownedTaskExecutor())
        }

        /// Runs it on another thread, because the loop has ended.
        func runElsewhere() {
            executor.afterwards.async { run() }
        }
    }

    private let transport: CurlTransport
    private let afterwards = DispatchQueue(label: "DataLoading.tasks", attributes: .concurrent)

    fileprivate init(_ transport: CurlTransport) {
        self.transport = transport
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = Job(job: UnownedJob(job), executor: self)
        if !transport.run(job) { job.runElsewhere() }
    }
}

/// The executor of a transport, while a task has it: it retains the transport.
struct PresentExecutor: Sendable {
    private weak var executor: LoopExecutor?

    mutating func get(_ transport: CurlTransport) -> LoopExecutor {
        if let executor { return executor }
        let new = LoopExecutor(transport)
        executor = new
        return new
    }
}

extension CurlTransport: ExecutingTransport {
    package var taskExecutor: any TaskExecutor { executor.withLock { $0.get(self) } }
}
