// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
import Dispatch
import Foundation

/// The load, validators and handlers of a call; it continues when the call is released.
final class CallCore: Sendable {
    typealias Validator = @Sendable (DataLoaderResponse) throws -> Void
    typealias Handler = @Sendable (DataLoaderResponse, (any Error)?) -> Void

    private enum State: Sendable {
        case described(DataLoaderRequest, [Validator])
        case running(Running)
        case ended(DataLoaderResponse, (any Error)?)
    }

    private struct Running: Sendable {
        var validators: [Validator]
        var handlers: [Handler]
        /// The token of the load; nil until the loader has returned it.
        var token: CancellationToken?
        /// Whether the call was cancelled before there was a token.
        var isCancelled = false
    }

    /// What the user holds of the call, if anything.
    private struct Handle: Sendable {
        weak var call: DataLoaderCall?
    }

    private let state: Locked<State>
    private let held = Locked(Handle())
    private weak let loader: LoaderCore?
    private let queue: DispatchQueue

    init(_ request: DataLoaderRequest, loader: LoaderCore) {
        state = Locked(.described(request, []))
        self.loader = loader
        queue = loader.queue
    }

    // A reference is released outside the lock, here and below: releasing the last one to a call may
    // deinitialize its loader's core.
    private var heldCall: DataLoaderCall? { held.withLock { $0.call } }

    /// Whether the user keeps or awaits the call, which has not ended.
    var isKept: Bool { heldCall != nil }

    /// Returns the call that the user holds, or another one of the same load.
    func handle(retaining loader: LoaderCore) -> DataLoaderCall {
        let new = DataLoaderCall(self, retaining: loader)
        let call = held.withLock { held in
            if let present = held.call { return present }
            held.call = new
            return new
        }
        if case .ended = state.withLock({ $0 }) { call.letGo() }
        return call
    }

    /// Whether the call ended as cancelled, or will.
    var isCancelled: Bool {
        switch state.withLock({ $0 }) {
        case .described: false
        case .running(let running): running.isCancelled || running.token?.isCancelled == true
        case .ended(let response, _): response.error == .cancelled
        }
    }

    func modify(_ change: (inout DataLoaderRequest) throws -> Void) rethrows {
        guard case .described(var request, _) = state.withLock({ $0 }) else { return }
        try change(&request)
        // The old state is released outside the lock, here and below: it holds the user's objects.
        _ = state.withLock { [request] state -> State? in
            guard case .described(_, let validators) = state else { return nil }
            defer { state = .described(request, validators) }
            return state
        }
    }

    func validate(_ validator: @escaping Validator) {
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
    }

    func cancel() {
        let (token, before) = state.withLock { state -> (CancellationToken?, State) in
            let before = state
            switch state {
            case .described(let request, _):
                let response = DataLoaderResponse.unstarted(request, .cancelled)
                state = .ended(response, response.error)
                return (nil, before)
            case .running(var running):
                if running.token == nil { running.isCancelled = true }
                state = .running(running)
                return (running.token, before)
            case .ended:
                return (nil, before)
            }
        }
        token?.cancel()
        if case .described = before { heldCall?.letGo() }
    }

    /// Attaches a handler; the first one starts the load.
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
            let response = DataLoaderResponse.unstarted(request, .cancelled)
            return queue.async { self.end(with: response) }
        }
        var whole = request
        whole.chunks = false
        let token = loader.start(whole, CallEnd(call: self, queue: queue)).token
        let isCancelled = state.withLock { state in
            guard case .running(var running) = state else { return false }
            running.token = token
            state = .running(running)
            return running.isCancelled
        }
        if isCancelled { token.cancel() }
    }

    /// Runs the validators and the handlers when the load has ended; called on the loader's queue.
    func end(with response: DataLoaderResponse) {
        var failure: (any Error)? = response.failure
        var handlers: [Handler]?
        var checked = 0
        while handlers == nil {
            let next = next(checked, response, failure)
            handlers = next.running?.handlers
            if next.running == nil, next.validator == nil { handlers = [] }
            guard let validator = next.validator else { continue }
            do { try validator(response) } catch { failure = error }
            checked += 1
        }
        for handler in handlers ?? [] { handler(response, failure) }
        heldCall?.letGo()
    }

    /// Returns the next validator, or ends the call and returns its handlers.
    ///
    /// Both happen under one lock, so that a validator that is added before the end is always run.
    private func next(
        _ index: Int, _ response: DataLoaderResponse, _ failure: (any Error)?
    ) -> (validator: Validator?, running: Running?) {
        state.withLock { state in
            guard case .running(let running) = state else { return (nil, nil) }
            if failure == nil, index < running.validators.count {
                return (running.validators[index], nil)
            }
            state = .ended(response, failure)
            // Includes the validators, which are released outside the lock.
            return (nil, running)
        }
    }
}

/// Gives the outcome of a load to its call.
final class CallEnd: LoadEnd {
    let call: CallCore
    let queue: DispatchQueue

    init(call: CallCore, queue: DispatchQueue) {
        self.call = call
        self.queue = queue
    }

    var endsWithLoader: Bool { !call.isKept }

    func outcomeIsReady(_ load: Load, by caller: Caller) {
        queue.async { [call] in load.handOver { call.end(with: $0) } }
    }
}
