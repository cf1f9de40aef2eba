// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Dispatch
import Foundation

/// Gives the outcome of a load inside to the interceptor that waits for it.
///
/// The owner's questions are asked about the intercepted load, the only one that the owner knows.
final class InsideEnd: ForwardingEnd {
    let base: any LoadEnd
    private let outer: Load
    private let interception: Interception
    private let waiter: TaskEnd

    init(_ outer: Load, _ interception: Interception) {
        base = outer.end
        self.outer = outer
        self.interception = interception
        waiter = TaskEnd(queue: outer.end.queue)
    }

    /// Returns the response; called once.
    func response() async throws -> DataLoaderResponse { try await waiter.response() }

    func askForChunkSupport(_ load: Load, _ answer: @escaping @Sendable (Bool) -> Void) {
        queue.async { answer(false) }
    }

    func askForBodyStream(_ load: Load, _ answer: @escaping @Sendable (OneShotStream?) -> Void) {
        base.askForBodyStream(outer, answer)
    }

    func isWaitingForConnectivity(_ load: Load) {
        if interception.isFirstToWait() { base.isWaitingForConnectivity(outer) }
    }

    /// The intercepted load reports the bytes of the loads inside as its own.
    var isObserved: Bool { false }

    func outcomeIsReady(_ load: Load, by caller: Caller) {
        var outcome: DataLoaderResponse?
        load.handOver { outcome = $0 }
        guard let outcome else { return }
        // Afterwards, so that the bytes of the load are counted before the interceptor returns.
        interception.hasOutcome(outcome)
        waiter.end(with: outcome)
    }
}

/// Delivers the outcome of an intercepted load whose body goes to a sink.
///
/// A load inside has written the body, or the interception: nothing is written here.
final class InterceptedEnd: ForwardingEnd {
    let base: any LoadEnd
    let sink: ResponseSink?

    private init(_ base: any LoadEnd, _ sink: ResponseSink) {
        self.base = base
        self.sink = sink
    }

    /// Returns the end for a request that is intercepted.
    static func make(for request: DataLoaderRequest, _ base: any LoadEnd) -> any LoadEnd {
        guard let sink = request.sinkOfWhole else { return base }
        return InterceptedEnd(base, sink)
    }

    /// The sink decides about the default time limit.
    var delivery: BodyDelivery { sink?.isRestartable == true ? .restartable : .pieces }

    func outcomeIsReady(_ load: Load, by caller: Caller) {
        base.outcomeIsReady(load, by: caller)
    }
}
