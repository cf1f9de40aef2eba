// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch

/// Starts the loads of one loader, and may exist longer than the loader.
///
/// The loader retains it. A sequence of chunks and a call retain it too, so that their loads
/// continue without the loader. The delegate's loads end with the loader.
final class LoaderCore: Sendable {
    let registry: LoadRegistry
    let queue: DispatchQueue
    private let context: LoadContext

    init(_ context: LoadContext, queue: DispatchQueue) {
        self.context = context
        self.queue = queue
        registry = context.makeRegistry()
    }

    deinit {
        context.forget(registry)
        registry.endAllLoads(.cancelled)
    }

    /// Starts a load that gives its outcome to an end.
    func start(_ request: DataLoaderRequest, _ end: any LoadEnd) -> Load {
        // A clock of a test must not jump between a load's deadline and its first attempt.
        let timekeeper = context.runtime.timekeeper
        timekeeper.workBegan()
        defer { timekeeper.workEnded() }
        let end = SinkEnd.make(for: request, end)
        let load = Load(request, context: context, registry: registry, end: end)
        load.runtime.liveLoads.loadBegan()
        // The load is listed first: a concurrent reset then finds it, or the load is refused below.
        registry.add(load)
        load.begin(refusal: context.refusal(isForAuthoriser: load.isForAuthoriser))
        return load
    }

    /// Suspends a task before it starts another load; throws the error that such a load would end
    /// with.
    ///
    /// What ends the loader's loads ends the pause too, and so does cancelling the task.
    func pause(for duration: Duration) async throws(DataLoaderError) {
        let pause = LoadPause()
        // As with a load: a concurrent reset finds the pause, or the pause is refused below.
        registry.add(pause)
        defer { registry.remove(pause) }
        if let refusal = context.refusal(isForAuthoriser: false) { throw refusal }
        guard duration > .zero else { return }
        let timerQueue = context.runtime.timerQueue
        let entry = timerQueue.schedule(at: timerQueue.now + duration, for: pause, tag: 0)
        await withTaskCancellationHandler {
            await pause.wait()
        } onCancel: {
            pause.end(.cancelled)
        }
        timerQueue.cancel(entry)
        try pause.result()
    }

    /// The monotonic time.
    var now: Instant { context.runtime.timerQueue.now }

    /// The randomness of the service.
    var random: RandomSource { context.runtime.random }

    /// The idle limit of requests that set none.
    var idleTimeout: Duration { context.runtime.attempts.timeouts.idle }

    /// The maximum number of outcomes that wait to be read.
    var maxUnreadOutcomes: Int { context.runtime.limits.queue }

    /// Cancels the loads that do not outlive the loader.
    func loaderIsGone() {
        Load.endAll(registry.loads.filter(\.end.endsWithLoader), as: .cancelled)
    }
}
