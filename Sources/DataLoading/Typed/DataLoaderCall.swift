// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

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
/// `DataLoaderError`. Any status is a response, unless a validator says otherwise. Dropping the
/// loader ends the call with `.cancelled`; dropping the call changes nothing.
public final class DataLoaderCall: Sendable {
    /// Checks a response and throws what is wrong with it; called on the loader's delegate queue.
    public typealias Validator = @Sendable (DataLoaderResponse) throws -> Void
    typealias Handler = @Sendable (DataLoaderResponse, (any Error)?) -> Void

    private enum State: Sendable {
        case described(DataLoaderRequest, [Validator])
        case running(Running)
        case ended(DataLoaderResponse, (any Error)?)
    }

    private struct Running: Sendable {
        var validators: [Validator]
        var handlers: [Handler]
        /// Missing until the loader has returned it.
        var token: CancellationToken?
        var isCancelled = false
    }

    private let state: Locked<State>
    private weak let loader: DataLoader?
    private let queue: DispatchQueue

    init(_ request: DataLoaderRequest, loader: DataLoader) {
        state = Locked(.described(request, []))
        self.loader = loader
        queue = loader.queue
    }

    /// Changes the request, inside the call; without effect once the load has started.
    @discardableResult public func modify(
        _ change: (inout DataLoaderRequest) throws -> Void
    ) rethrows -> Self {
        guard case .described(var request, _) = state.withLock({ $0 }) else { return self }
        try change(&request)
        state.withLock { [request] state in
            guard case .described(_, let validators) = state else { return }
            state = .described(request, validators)
        }
        return self
    }

    /// Adds a check of the response; without effect once the call has ended.
    @discardableResult public func validate(_ validator: @escaping Validator) -> Self {
        state.withLock { state in
            switch state {
            case .described(let request, let validators):
                state = .described(request, validators + [validator])
            case .running(var running):
                running.validators.append(validator)
                state = .running(running)
            case .ended:
                break
            }
        }
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
    public func cancel() {
        let token = state.withLock { state -> CancellationToken? in
            switch state {
            case .described(let request, _):
                let response = DataLoaderResponse(request: request, error: .cancelled)
                state = .ended(response, DataLoaderError.cancelled)
                return nil
            case .running(var running):
                running.isCancelled = true
                state = .running(running)
                return running.token
            case .ended:
                return nil
            }
        }
        token?.cancel()
    }

    /// Attaches a handler, and starts the load with the first one.
    func attach(_ handler: @escaping Handler) {
        enum Action: Sendable {
            case start(DataLoaderRequest)
            case wait
            case call(DataLoaderResponse, (any Error)?)
        }
        let action = state.withLock { state -> Action in
            switch state {
            case .described(let request, let validators):
                state = .running(Running(validators: validators, handlers: [handler]))
                return .start(request)
            case .running(var running):
                running.handlers.append(handler)
                state = .running(running)
                return .wait
            case .ended(let response, let error):
                return .call(response, error)
            }
        }
        switch action {
        case .start(let request): start(request)
        case .wait: break
        case .call(let response, let error): queue.async { handler(response, error) }
        }
    }

    private func start(_ request: DataLoaderRequest) {
        guard let loader else {
            let response = DataLoaderResponse(request: request, error: .cancelled)
            return queue.async { self.end(with: response) }
        }
        var whole = request
        whole.chunks = false
        let token = loader.start(whole, CallRecipient(call: self, queue: queue)).token
        let isCancelled = state.withLock { state in
            guard case .running(var running) = state else { return false }
            running.token = token
            state = .running(running)
            return running.isCancelled
        }
        if isCancelled { token.cancel() }
    }

    /// The load is over: validates, and calls the handlers; on the loader's queue.
    func end(with response: DataLoaderResponse) {
        var failure: (any Error)? = nil
        if let error = response.error {
            if case .status = error {} else { failure = error }
        }
        var handlers: [Handler]?
        var checked = 0
        while handlers == nil {
            let next = next(checked, response, failure)
            handlers = next.handlers
            guard let validator = next.validator else { continue }
            do { try validator(response) } catch { failure = error }
            checked += 1
        }
        for handler in handlers ?? [] { handler(response, failure) }
    }

    /// The next validator, or the end and its handlers: in one step, so that no validator that was
    /// added in time is left out.
    private func next(
        _ index: Int, _ response: DataLoaderResponse, _ failure: (any Error)?
    ) -> (validator: Validator?, handlers: [Handler]?) {
        state.withLock { state in
            guard case .running(let running) = state else { return (nil, []) }
            if failure == nil, index < running.validators.count {
                return (running.validators[index], nil)
            }
            state = .ended(response, failure)
            return (nil, running.handlers)
        }
    }
}

/// Hands a call its load's outcome.
private final class CallRecipient: Recipient {
    private let call: DataLoaderCall
    let queue: DispatchQueue

    init(call: DataLoaderCall, queue: DispatchQueue) {
        self.call = call
        self.queue = queue
    }

    func outcomeIsReady(_ exchange: Exchange) {
        queue.async { [call] in
            guard let response = exchange.takeOutcome() else { return }
            call.end(with: response)
            exchange.outcomeWasHandedOver()
        }
    }
}
