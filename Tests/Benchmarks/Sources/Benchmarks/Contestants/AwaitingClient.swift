// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingOperations
import Synchronization

/// The full stack of `DataLoadingClient`, whose responses are awaited.
final class AwaitingClient: SingleClient {
    let stack: DataLoadingClient
    private let turns = Atomic(0)
    /// Runs the tasks on the transport's thread; nil for the usual threads.
    private let executor: (any TaskExecutor)?

    init?(
        _ workload: Workload, onTransportsThread: Bool = false,
        watching: OperationsConfiguration? = nil
    ) {
        guard let stack = DataLoadingClient(workload, watching: watching) else { return nil }
        self.stack = stack
        executor = onTransportsThread ? stack.service.taskExecutor : nil
    }

    func hold(_ idle: Workload.Idle) {
        stack.hold(idle)
    }

    func run(_ requests: Int) async -> Int {
        stack.observer.expect(requests)
        let concurrency = stack.concurrency
        let failures = await withTaskGroup(of: Int.self) { group in
            for index in 0..<concurrency {
                let loader = stack.loaders[index / DataLoadingClient.loadsPerLoader].loader
                let share = (requests + index) / concurrency
                group.addTask(executorPreference: executor) { await self.load(share, with: loader) }
            }
            return await group.reduce(0, +)
        }
        await stack.observer.waitForAll()
        return failures
    }

    private func load(_ count: Int, with loader: DataLoader) async -> Int {
        var failures = 0
        for _ in 0..<count where await !loadOne(with: loader) { failures += 1 }
        return failures
    }

    func loadOne() async -> Bool {
        stack.observer.expect(1)
        let turn = turns.add(1, ordering: .relaxed).newValue
        return await loadOne(with: stack.loaders[turn % stack.loaders.count].loader)
    }

    private func loadOne(with loader: DataLoader) async -> Bool {
        let request = stack.requests.next()
        guard let response = try? await loader.response(for: request), response.error == nil else {
            return false
        }
        return response.body?.isEmpty == false || request.method == .head
    }
}
