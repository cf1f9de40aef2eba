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
        context.interceptors == nil
            ? context.start(request, SinkEnd.make(for: request, end), in: registry)
            : context.start(
                request, InterceptedEnd.make(for: request, end), in: registry, isIntercepted: true)
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
    var now: Instant { timerQueue.now }

    var timerQueue: TimerQueue { context.runtime.timerQueue }

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
