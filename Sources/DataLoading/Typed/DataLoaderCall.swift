// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// One load, described in a chain of calls and started by the first handler.
///
/// ```swift
/// loader.request(url, sourceIdentifier: "catalogue")
///     .modify { $0.headers["Accept"] = "application/json" }
///     .validateStatusCode(in: 200..<300)
///     .responseDecodable(Catalogue.self) { print($0.value as Any) }
/// ```
/// Handlers run in the order in which they were attached, on the loader's delegate queue, each once;
/// those attached after the end run soon. A load without a response fails each of them with its
/// `DataLoaderError`. Any status is a response, unless a validator says otherwise. A call that is kept
/// or awaited keeps its loader until it has ended. A call that is not goes on all the same, and ends
/// with `.cancelled` when its loader is dropped.
public final class DataLoaderCall: Sendable {
    /// Checks a response and throws what is wrong with it; called on the loader's delegate queue.
    public typealias Validator = @Sendable (DataLoaderResponse) throws -> Void

    let core: CallCore
    private let keeper: LoaderKeeper

    init(_ request: DataLoaderRequest, loader: DataLoader) {
        keeper = LoaderKeeper(loader)
        core = CallCore(request, loader: loader, keeper: keeper)
    }

    /// Changes the request, inside the call; without effect once the load has started.
    @discardableResult public func modify(
        _ change: (inout DataLoaderRequest) throws -> Void
    ) rethrows -> Self {
        try core.modify(change)
        return self
    }

    /// Adds a check of the response; without effect once the call has ended.
    @discardableResult public func validate(_ validator: @escaping Validator) -> Self {
        core.validate(validator)
        return self
    }

    /// Fails with `DataLoaderError.status` when the status is none of these; default 200 to 299.
    @discardableResult public func validateStatusCode(
        in codes: some Sequence<Int> & Sendable = 200..<300
    ) -> Self {
        validate { response in
            guard codes.contains(response.statusCode.rawValue) else {
                throw DataLoaderError.status(response.statusCode)
            }
        }
    }

    /// Cancels the load; handlers hear `DataLoaderError.cancelled`.
    ///
    /// A call that has not started never starts. Without effect after the end.
    public func cancel() { core.cancel() }
}

/// Keeps the loader of a call that somebody keeps, until the call has ended.
final class LoaderKeeper: Sendable {
    private let loader: Locked<DataLoader?>

    init(_ loader: DataLoader) {
        self.loader = Locked(loader)
    }

    func letGo() {
        // The loader may end with it, which is not to happen under the lock.
        _ = loader.withLock { $0.take() }
    }
}
