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

    /// The maximum number of outcomes that wait to be read.
    var maxUnreadOutcomes: Int { context.runtime.limits.queue }

    /// Cancels the loads that do not outlive the loader.
    func loaderIsGone() {
        Load.endAll(registry.loads.filter(\.end.endsWithLoader), as: .cancelled)
    }
}
