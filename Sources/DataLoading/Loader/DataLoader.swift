// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
public import Foundation

/// The owner level: one for each feature; dropping it cancels its loads.
///
/// Every load ends in exactly one of three calls of the delegate, on the delegate queue and never
/// inside `perform`. A loader that is dropped cancels its loads, whatever they wait for, closes their
/// sockets, and calls nobody. Any thread may call any method.
public final class DataLoader: Sendable {
    private let factory: DataLoaderFactory
    let core: LoaderCore

    init(factory: DataLoaderFactory, core: LoaderCore) {
        self.factory = factory
        self.core = core
        core.bind(self)
    }

    deinit {
        factory.forget(core)
        core.endAllLoads(.cancelled)
    }

    /// Who hears of the loads; held weakly, read anew for each call.
    public var delegate: (any DataLoaderDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// Loads a request for the delegate.
    ///
    /// Whatever is wrong with it, the delegate hears of it in one of its terminal calls.
    @discardableResult public func perform(_ request: DataLoaderRequest) -> CancellationToken {
        let recipient: any Recipient =
            request.chunks ? DelegateChunkRecipient(core) : core
        return start(request, recipient).token
    }

    /// Cancels every load; new ones may be performed.
    public func cancelAllLoads() {
        core.endAllLoads(.cancelled)
    }

    /// The requests whose outcome has not been handed over yet, oldest first.
    public var currentRequests: [DataLoaderRequest] {
        core.exchanges.map { $0.request }
    }

    /// Where the delegate is called.
    var queue: DispatchQueue { core.queue }

    /// Starts a load for a recipient.
    func start(_ request: DataLoaderRequest, _ recipient: any Recipient) -> Exchange {
        let recipient = SinkRecipient.make(for: request, recipient)
        let exchange = Exchange(request, factory: factory, loader: core, recipient: recipient)
        exchange.runtime.ledger.loadBegan()
        // Listed first and asked second: whoever resets sees the load, or the load sees the reset.
        core.add(exchange)
        exchange.begin(refusal: factory.refusal(isForAuthoriser: exchange.isForAuthoriser))
        return exchange
    }

    /// Loads a request and returns its response, whatever the status.
    ///
    /// Cancelling the task cancels the load. `chunks` is ignored: the body comes whole.
    ///
    /// - Throws: `DataLoaderError` when there is no whole response.
    public func response(for request: DataLoaderRequest) async throws -> DataLoaderResponse {
        // Nothing is sent for a task that wants nothing any more.
        guard !Task.isCancelled else { throw DataLoaderError.cancelled }
        var whole = request
        whole.chunks = false
        let waiter = ResponseWaiter(queue: core.queue)
        let exchange = start(whole, waiter)
        return try await withTaskCancellationHandler {
            try await waiter.response()
        } onCancel: {
            exchange.cancel()
        }
    }

    /// Loads a request's body piece by piece, as fast as the pieces are read.
    ///
    /// The load starts with the first piece that is asked for, and is cancelled when the reading task
    /// is cancelled, the iterator is dropped or `cancelAllLoads` is called. The sequence keeps this
    /// loader. Each iterator is a load of its own.
    public func chunks(for request: DataLoaderRequest) -> DataChunks {
        var streamed = request
        streamed.chunks = true
        return DataChunks(request: streamed, loader: self)
    }

    /// Describes a load in a chain of calls; it starts with the first handler.
    ///
    /// The call keeps this loader until it has ended, for as long as the call itself is kept or awaited.
    /// A call that has handlers and is not kept is cancelled when the loader is dropped.
    public func request(_ url: URL, sourceIdentifier: String? = nil) -> DataLoaderCall {
        DataLoaderCall(
            DataLoaderRequest(url: url, sourceIdentifier: sourceIdentifier), loader: self)
    }
}
