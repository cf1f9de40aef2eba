// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch
import Foundation

/// Performs network requests, and cancels them when it is dropped.
///
/// ```swift
/// let service = DataLoaderService.shared
/// let factory = service.makeFactory()
/// let loader = factory.makeDataLoader()
/// let response = try await loader.response(for: DataLoaderRequest(url: url))
/// ```
/// The loader is the owner level: each feature keeps one. A load that `perform` starts ends in
/// exactly one of three calls of the delegate, one at a time and never inside `perform`; ``Delivery``
/// says where. The other functions give the outcome to their caller.
///
/// A loader that is dropped cancels its loads at every stage, closes their sockets and does not
/// call its delegate. What retains its loads instead, and continues without the loader: an iterator
/// of `chunks(for:)`, and a call that is kept or awaited. Any thread may call any method.
public final class DataLoader: Sendable {
    let core: LoaderCore
    let delegateEnd: DelegateEnd

    init(core: LoaderCore, delegate: (any DataLoaderDelegate)?, delivery: Delivery) {
        self.core = core
        delegateEnd = DelegateEnd(
            queue: core.queue, delegate: delegate, delivery: delivery,
            now: { [timerQueue = core.timerQueue] in timerQueue.now })
        delegateEnd.bind(self)
    }

    deinit {
        delegateEnd.finishOutcomes()
        core.loaderIsGone()
    }

    /// The delegate that receives the outcomes of `perform`; held weakly, read for each call.
    public var delegate: (any DataLoaderDelegate)? {
        get { delegateEnd.delegate }
        set { delegateEnd.delegate = newValue }
    }

    /// Loads a request and gives its outcome to the delegate.
    ///
    /// Every error, such as an invalid request, is reported in one of the delegate's terminal
    /// calls.
    @discardableResult public func perform(_ request: DataLoaderRequest) -> CancellationToken {
        let end: any LoadEnd = request.chunks ? DelegateChunkEnd(delegateEnd) : delegateEnd
        return core.start(request, end).token
    }

    /// Makes a sequence of the outcomes of `perform`, in the order in which the delegate gets them.
    ///
    /// It begins with the outcomes that come after this call, so take the sequence before the first
    /// `perform`. Calls return the same outcomes while a sequence or an iterator of it is kept.
    public var outcomes: LoadOutcomes { delegateEnd.outcomes(maxUnread: core.maxUnreadOutcomes) }

    /// Cancels every load of this loader; new ones may be performed.
    public func cancelAllLoads() {
        registry.endAllLoads(.cancelled)
    }

    /// The requests whose outcome is not delivered yet, oldest first.
    public var currentRequests: [DataLoaderRequest] {
        registry.loads.filter { $0.interception == nil }.map { $0.request }
    }

    /// The queue on which the delegate is called.
    var queue: DispatchQueue { core.queue }

    /// The loads whose outcome is not delivered yet.
    var registry: LoadRegistry { core.registry }

    /// Loads a request and returns its response, whatever the status.
    ///
    /// Cancelling the task cancels the load. The function ignores `chunks` and returns the whole
    /// body.
    ///
    /// - Throws: `DataLoaderError` when there is no whole response.
    public func response(for request: DataLoaderRequest) async throws -> DataLoaderResponse {
        // A task that is already cancelled starts no load.
        guard !Task.isCancelled else {
            throw DataLoaderError.cancelled.ending(request)
        }
        var whole = request
        whole.chunks = false
        let end = TaskEnd(queue: queue)
        let load = core.start(whole, end)
        return try await withTaskCancellationHandler {
            try await end.response()
        } onCancel: {
            load.cancel()
        }
    }

    /// Loads a request's body piece by piece, as fast as the pieces are read.
    ///
    /// The load starts when the first piece is requested. It is cancelled when the reading task is
    /// cancelled, the iterator is dropped or `cancelAllLoads()` is called. Dropping the loader does
    /// not cancel it. Each iterator is a separate load.
    public func chunks(for request: DataLoaderRequest) -> DataChunks {
        var streamed = request
        streamed.chunks = true
        return DataChunks(request: streamed, core: core)
    }
}
