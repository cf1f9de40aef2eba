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
    private let keeper: CoreKeeper

    init(_ request: DataLoaderRequest, core loader: LoaderCore) {
        keeper = CoreKeeper(loader)
        core = CallCore(request, loader: loader, keeper: keeper)
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
        validate { response in
            guard let status = response.statusCode, !codes.contains(status.rawValue) else { return }
            throw response.statusError(status)
        }
    }

    /// Cancels the load; its handlers receive `DataLoaderError.cancelled`.
    ///
    /// A call that has not started never starts. The function has no effect after the end.
    public func cancel() { core.cancel() }
}

/// Retains the core of the loader of a call that is kept, until the call has ended.
final class CoreKeeper: Sendable {
    private let loader: Locked<LoaderCore?>

    init(_ loader: LoaderCore) {
        self.loader = Locked(loader)
    }

    func letGo() {
        // Releasing the core may deinitialize it, which must not happen under the lock.
        _ = loader.withLock { $0.take() }
    }
}
