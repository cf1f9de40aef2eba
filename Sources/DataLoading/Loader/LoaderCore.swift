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
        context.start(request, SinkEnd.make(for: request, end), in: registry)
    }

    /// The maximum number of outcomes that wait to be read.
    var maxUnreadOutcomes: Int { context.runtime.limits.queue }

    /// Cancels the loads that do not outlive the loader.
    func loaderIsGone() {
        Load.endAll(registry.loads.filter(\.end.endsWithLoader), as: .cancelled)
    }
}
