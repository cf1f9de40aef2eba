// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch
import Foundation

/// The interceptors at work for one load, and the loads inside that they have started.
///
/// It is closed when the interceptors have answered or when the load has ended, whichever comes
/// first. It is over when it is closed and no load inside has an open socket; the intercepted load
/// is told that once, and can be reported then. A closed one retains nothing of the load, so that an
/// interceptor that never returns keeps only its own task.
final class Interception: Sendable {
    private enum SinkUse: Sendable {
        case unused, inUse, written
    }

    private struct State: Sendable {
        /// The intercepted load; nil when the interception is over.
        var outer: Load?
        var isClosed = false
        var task: Task<Void, Never>?
        /// The loads inside that are not over.
        var inside: [ObjectIdentifier: Load] = [:]
        /// The sum over loads inside that the intercepted load has not got yet.
        var metrics = LoadMetrics()
        var mayHaveBeenProcessed = false
        var sinkUse = SinkUse.unused
        var hasToldWaiting = false
    }

    /// The number of the intercepted load.
    let load: Int64
    private let request: DataLoaderRequest
    private let sink: ResponseSink?
    private let epoch: Int
    private let chain: InterceptorChain
    private let queue: DispatchQueue
    private let state: Locked<State>

    init(_ outer: Load, _ chain: InterceptorChain, epoch: Int) {
        load = outer.token.loadNumber
        request = outer.request
        sink = outer.request.sinkOfWhole
        self.epoch = epoch
        self.chain = chain
        queue = outer.context.queue
        state = Locked(State(outer: outer))
    }

    private var isOpen: Bool { state.withLock { !$0.isClosed } }

    /// The intercepted load; nil once the interception is closed.
    private var openLoad: Load? { state.withLock { $0.isClosed ? nil : $0.outer } }

    /// Calls the interceptors, unless the load has ended before.
    func begin() {
        let task = queue.task { [self, chain] in
            if isOpen { finish(await answer()) }
            chain.leave()
        }
        let hasBegun = state.withLock { state in
            if !state.isClosed { state.task = task }
            return !state.isClosed
        }
        // Cancelling may run a user's cancellation handler, which may block.
        if !hasBegun { queue.async { task.cancel() } }
    }

    private func answer() async -> Result<DataLoaderResponse, DataLoaderError> {
        do {
            return .success(try await sunk(try await pass(request, to: 0)))
        } catch {
            return .failure(.intercepted(error))
        }
    }

    /// Passes a request to an interceptor, or loads it when there is none left.
    ///
    /// Concurrent, so that no interceptor is called on the actor of the one before.
    @concurrent private func pass(
        _ request: DataLoaderRequest, to index: Int
    ) async throws -> DataLoaderResponse {
        guard isOpen else { throw DataLoaderError.cancelled.ending(request) }
        guard index < chain.interceptors.count else { return try await load(request) }
        let next: NextLoad = { try await self.pass($0, to: index + 1) }
        return try await chain.interceptors[index].intercept(request, next: next)
    }

    private func load(_ request: DataLoaderRequest) async throws -> DataLoaderResponse {
        guard !Task.isCancelled, let outer = openLoad else {
            throw DataLoaderError.cancelled.ending(request)
        }
        try takeSink()
        let end = InsideEnd(outer, self)
        let whole = outer.inside(request)
        let load = outer.context.start(
            whole, SinkEnd.make(for: whole, end), in: outer.registry, inside: self)
        return try await withTaskCancellationHandler {
            try await end.response()
        } onCancel: {
            load.cancel()
        }
    }

    /// Hands the answer to the load, unless the load has ended.
    private func finish(_ answer: Result<DataLoaderResponse, DataLoaderError>) {
        let (outer, metrics) = state.withLock { state -> (Load?, LoadMetrics) in
            guard !state.isClosed else { return (nil, LoadMetrics()) }
            state.isClosed = true
            // It calls this function, and is over.
            state.task = nil
            return (state.outer, state.metrics.take())
        }
        outer?.handle(.intercepted(InterceptedAnswer(answer, metrics), epoch: epoch))
    }

    /// Refuses any answer and any load inside from now on.
    func close() { state.withLock { $0.isClosed = true } }

    /// Closes the interception, and cancels its task and the loads inside; the load has ended.
    ///
    /// - Returns: Whether a server may have got any of the requests inside.
    @discardableResult func end() -> Bool {
        let (task, loads) = state.withLock { state in
            state.isClosed = true
            return (state.task.take(), Array(state.inside.values))
        }
        Load.endAll(loads, as: .cancelled)
        // Cancelling may run a user's cancellation handler, which may block.
        if let task { queue.async { task.cancel() } }
        report()
        let mayHaveBeenProcessed = state.withLock { $0.mayHaveBeenProcessed }
        return mayHaveBeenProcessed || loads.contains { $0.mayHaveBeenProcessed }
    }

    /// Gives the intercepted load what is counted by now, and tells it when nothing will follow.
    private func report() {
        let (outer, metrics, isOver) = state.withLock { state in
            let isOver = state.isClosed && state.inside.isEmpty
            let outer = state.outer
            if isOver { state.outer = nil }
            return (outer, state.metrics.take(), isOver)
        }
        outer?.handle(.insideCounted(metrics, isOver: isOver))
    }
}

/// Follows the loads inside.
extension Interception {
    /// Takes a load inside; returns the error with which it ends when the interception is closed.
    func take(_ load: Load) -> DataLoaderError? {
        state.withLock { state in
            guard !state.isClosed else { return .cancelled }
            state.inside[ObjectIdentifier(load)] = load
            return nil
        }
    }

    /// Counts a load inside whose outcome was taken and whose attempts have ended.
    func isOver(_ load: Load) {
        let (metrics, mayHaveBeenProcessed) = (load.metrics, load.mayHaveBeenProcessed)
        // The load is released outside the lock.
        let (removed, isClosed) = state.withLock { state in
            let removed = state.inside.removeValue(forKey: ObjectIdentifier(load))
            guard removed != nil else { return (removed, false) }
            state.metrics.add(metrics)
            // A sum with a number is not empty.
            state.metrics.load = metrics.load
            state.mayHaveBeenProcessed = state.mayHaveBeenProcessed || mayHaveBeenProcessed
            return (removed, state.isClosed)
        }
        withExtendedLifetime(removed) {}
        if isClosed { report() }
    }

    /// Whether no load inside has told the owner that it waits for a connection; true once.
    func isFirstToWait() -> Bool {
        state.withLock { state in
            defer { state.hasToldWaiting = true }
            return !state.hasToldWaiting
        }
    }
}

/// Keeps a body from being written to a sink twice.
extension Interception {
    private func takeSink() throws(DataLoaderError) {
        guard let sink, !sink.isRestartable else { return }
        let isFree = state.withLock { state in
            defer { if state.sinkUse == .unused { state.sinkUse = .inUse } }
            return state.sinkUse == .unused
        }
        guard isFree else { throw .secondBody }
    }

    /// Notes what a load inside has done with the sink.
    func hasOutcome(_ response: DataLoaderResponse) {
        guard let sink else { return }
        let isSuccess = response.error == nil
        let hasBegun = !sink.isRestartable && response.statusCode?.isSuccess == true
        state.withLock { state in
            if isSuccess || hasBegun {
                state.sinkUse = .written
            } else if state.sinkUse == .inUse {
                state.sinkUse = .unused
            }
        }
    }

    /// Writes the body of an interceptor's own answer to the request's sink.
    private func sunk(_ response: DataLoaderResponse) async throws -> DataLoaderResponse {
        guard let sink, response.statusCode?.isSuccess == true, let outer = openLoad else {
            return response
        }
        let isWritten = state.withLock { $0.sinkUse == .written }
        if isWritten, response.body == nil { return response }
        // A load inside that the interceptor has left may be writing.
        try takeSink()
        var response = response
        let body = response.body.take() ?? Data()
        try await SinkEnd.write(body, of: response, to: sink, queue: outer.end.queue) {
            self.isOpen
        }
        return response
    }
}

extension DataLoaderError {
    fileprivate static let secondBody = responseSink(
        reason: "a load inside an interceptor has begun to write the body")

    /// The error of a load whose interceptor threw an error.
    ///
    /// The description of an error from outside the library may be secret.
    fileprivate static func intercepted(_ error: any Error) -> Self {
        if let own = error as? DataLoaderError { return own }
        if error is CancellationError { return .cancelled }
        return Self(.interceptor(reason: "\(type(of: error))"), underlyingError: error)
    }
}

extension LoadMetrics {
    /// Takes the sum, and begins a new one.
    fileprivate mutating func take() -> LoadMetrics {
        defer { self = LoadMetrics() }
        return self
    }
}
