// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
import Dispatch
import Foundation

/// Delivers a loader's whole loads to its delegate and to the reader of its outcomes.
///
/// It also asks the delegate the questions of the loads that `perform` starts.
final class DelegateEnd: LoadEnd {
    private struct State: Sendable {
        weak var delegate: (any DataLoaderDelegate)?
        weak var loader: DataLoader?
        /// Weak, so that nothing is collected when the sequence and its iterators are dropped.
        weak var outcomes: OutcomeBuffer?
    }

    let queue: DispatchQueue
    private let deliveries: BatchedQueue<Load>
    /// Makes the calls on the transport's thread; nil when every call is made on the queue.
    private let directCalls: DirectCalls?
    private let state: Locked<State>

    init(
        queue: DispatchQueue, delegate: (any DataLoaderDelegate)?,
        delivery: DataLoader.Delivery, now: @escaping @Sendable () -> Instant
    ) {
        self.queue = queue
        let place: DirectCalls.Place? =
            switch delivery {
            case .automatic: .betweenRounds
            case .queue: nil
            case .direct: .inPlace
            }
        let state = Locked(State(delegate: delegate))
        self.state = state
        deliveries = BatchedQueue(on: queue) { Self.handOver($0, to: state) }
        directCalls = place.map {
            DirectCalls($0, queue: queue, now: now) { Self.handOver($0, to: state) }
        }
    }

    var delegate: (any DataLoaderDelegate)? {
        get { state.withLock { $0.delegate } }
        set { state.withLock { $0.delegate = newValue } }
    }

    func bind(_ loader: DataLoader) {
        state.withLock { $0.loader = loader }
    }

    /// Returns the outcomes from now on; the same sequence while it or one of its iterators exists.
    func outcomes(maxUnread: Int) -> LoadOutcomes {
        let new = OutcomeBuffer(maxUnread: maxUnread)
        let buffer = state.withLock { state in
            if let present = state.outcomes { return present }
            state.outcomes = new
            return new
        }
        return LoadOutcomes(buffer: buffer)
    }

    /// Ends the outcomes; unread ones can still be read.
    func finishOutcomes() {
        state.withLock { $0.outcomes }?.finish()
    }

    /// The loader and its delegate; nil when either is gone.
    var listener: (loader: DataLoader, delegate: any DataLoaderDelegate)? {
        // References are released outside the lock: releasing the last one to a loader takes the
        // lock again.
        let (loader, delegate) = state.withLock { ($0.loader, $0.delegate) }
        guard let loader, let delegate else { return nil }
        return (loader, delegate)
    }

    /// The loader and its delegate; nil once the load has ended, because its last call may have
    /// been made.
    private func listener(
        of load: Load
    ) -> (loader: DataLoader, delegate: any DataLoaderDelegate)? {
        load.isEnding ? nil : listener
    }

    func askForChunkSupport(_ load: Load, _ answer: @escaping @Sendable (Bool) -> Void) {
        call { [self] in
            guard let (loader, delegate) = listener(of: load),
                let reader = delegate as? any DataLoaderChunkDelegate
            else { return answer(false) }
            answer(reader.dataLoaderShouldSupportChunks(loader))
        }
    }

    func askForBodyStream(_ load: Load, _ answer: @escaping @Sendable (OneShotStream?) -> Void) {
        call { [self] in
            guard let (loader, delegate) = listener(of: load),
                let provider = delegate as? any DataLoaderBodyStreamDelegate,
                let stream = provider.dataLoader(loader, needsNewBodyStreamFor: load.request)
            else { return answer(nil) }
            answer(OneShotStream(stream))
        }
    }

    func isWaitingForConnectivity(_ load: Load) {
        call { [self] in
            guard let (loader, delegate) = listener(of: load),
                let observer = delegate as? any DataLoaderConnectivityDelegate
            else { return }
            observer.dataLoader(loader, requestIsWaitingForConnectivity: load.request)
        }
    }

    func outcomeIsReady(_ load: Load, by caller: Caller) {
        guard let directCalls else { return deliveries.add(load) }
        directCalls.makeOutcome(of: load, by: caller)
    }

    /// Makes a call to the delegate.
    func call(by caller: Caller = .other, _ call: @escaping @Sendable () -> Void) {
        guard let directCalls else { return queue.async(execute: call) }
        directCalls.make(by: caller, call)
    }

    /// Takes a load's outcome and makes the one terminal call, in a call to the delegate.
    func handOver(_ load: Load) { Self.handOver(load, to: state) }

    private static func handOver(_ load: Load, to state: Locked<State>) {
        load.handOver { response in
            let (loader, delegate, outcomes) = state.withLock {
                ($0.loader, $0.delegate, $0.outcomes)
            }
            guard let loader else { return }
            switch response.error?.kind {
            case nil: delegate?.dataLoader(loader, didReceiveSuccessfulResponse: response)
            case .cancelled: delegate?.dataLoader(loader, didCancelRequest: response.request)
            default: delegate?.dataLoader(loader, didReceiveErrorResponse: response)
            }
            outcomes?.append(LoadOutcome(response: response, token: load.token))
        }
    }
}
