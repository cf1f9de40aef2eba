// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport

/// A load that is described in a chain of calls and starts with its first handler.
///
/// ```swift
/// loader.request(url, sourceIdentifier: "catalogue")
///     .modify { $0.headers["Accept"] = "application/json" }
///     .validateStatusCode(in: 200..<300)
///     .responseDecodable(Catalogue.self) { print($0.value as Any) }
/// ```
/// Handlers run once each, on the loader's delegate queue, in the order in which they were
/// attached. A handler that is attached after the end runs soon. When a load has no response, each
/// handler receives its `DataLoaderError`. A response with any status is a success unless a
/// validator throws. The error of `validateStatusCode` has the body of the response.
///
/// A call that is kept or awaited continues when its loader is dropped. A call that is not kept
/// continues as long as its loader, and ends `.cancelled` when the loader is dropped.
public final class DataLoaderCall: Sendable {
    let core: CallCore
    /// Retained until the call has ended.
    private let loader: Locked<LoaderCore?>

    init(_ core: CallCore, retaining loader: LoaderCore) {
        self.core = core
        self.loader = Locked(loader)
    }

    /// Changes the request before the function returns; has no effect once the load has started.
    @discardableResult public func modify(
        _ change: (inout DataLoaderRequest) throws -> Void
    ) rethrows -> Self {
        try core.modify(change)
        return self
    }

    /// Adds a check of the response; has no effect once the call has ended.
    ///
    /// The check throws an error to reject the response. It is called on the loader's delegate
    /// queue.
    @discardableResult public func validate(
        _ validator: @escaping @Sendable (DataLoaderResponse) throws -> Void
    ) -> Self {
        core.validate(validator)
        return self
    }

    /// Rejects a status that is not among the given codes, with `DataLoaderError.status`; default
    /// 200 to 299.
    @discardableResult public func validateStatusCode(
        in codes: some Sequence<Int> & Sendable = 200..<300
    ) -> Self {
        validate { try $0.validateStatusCode(in: codes) }
    }

    /// Rejects a status that is none of the given codes, with `DataLoaderError.status`.
    @discardableResult public func validateStatusCode(in first: Int, _ others: Int...) -> Self {
        validateStatusCode(in: [first] + others)
    }

    /// Cancels the load; its handlers receive `DataLoaderError.cancelled`.
    ///
    /// A call that has not started never starts. The function has no effect after the end.
    public func cancel() { core.cancel() }

    /// Whether the load was cancelled: by the call, an awaiting task, the loader or the service.
    public var isCancelled: Bool { core.isCancelled }

    /// Releases the loader's core, because the call has ended.
    func letGo() {
        // Releasing the core may deinitialize it, which must not happen under the lock.
        _ = loader.withLock { $0.take() }
    }
}
