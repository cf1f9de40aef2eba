// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Combine)
    import Combine
    import DataLoadingSupport

    /// Starts a load at the first demand, and gives its outcome to one subscriber.
    final class LoadSubscription<Output: Sendable, Failure: Error>: Subscription, Sendable {
        private typealias Start = LoadPublisher<Output, Failure>.Start

        private enum Stage: Sendable {
            case unstarted(Downstream<Output, Failure>, Start)
            /// The load runs; what cancels it is nil until the loader has returned it.
            case loading(Downstream<Output, Failure>, cancel: (@Sendable () -> Void)?)
            /// The subscriber has its value, and the completion follows.
            case given(Downstream<Output, Failure>)
            case over
        }

        private let stage: Locked<Stage>

        init(
            _ downstream: Downstream<Output, Failure>,
            _ start: @escaping LoadPublisher<Output, Failure>.Start
        ) {
            stage = Locked(.unstarted(downstream, start))
        }

        /// Starts the load at the first demand; there is no second value to demand.
        func request(_ demand: Subscribers.Demand) {
            guard demand > .none else { return }
            let start = stage.withLock { stage -> Start? in
                guard case .unstarted(let downstream, let start) = stage else { return nil }
                stage = .loading(downstream, cancel: nil)
                return start
            }
            guard let start else { return }
            let cancel = start { self.end(with: $0) }
            let isOver = stage.withLock { stage in
                guard case .loading(let downstream, nil) = stage else { return true }
                stage = .loading(downstream, cancel: cancel)
                return false
            }
            // It was cancelled while it started, or it has ended, and then this has no effect.
            if isOver { cancel() }
        }

        func cancel() {
            // What it held is released outside the lock, here and below: it is the user's.
            let before = stage.withLock { stage in
                defer { stage = .over }
                return stage
            }
            if case .loading(_, let cancel?) = before { cancel() }
        }

        private func end(with result: Result<Output, Failure>) {
            let before = stage.withLock { stage in
                let before = stage
                if case .loading(let downstream, _) = stage { stage = .given(downstream) }
                return before
            }
            guard case .loading(let downstream, _) = before else { return }
            if case .success(let value) = result { _ = downstream.receive(value) }
            // The subscriber may have cancelled when it got its value.
            let isOpen = stage.withLock { stage in
                guard case .given = stage else { return false }
                stage = .over
                return true
            }
            guard isOpen else { return }
            switch result {
            case .success: downstream.complete(.finished)
            case .failure(let error): downstream.complete(.failure(error))
            }
        }
    }
#endif
