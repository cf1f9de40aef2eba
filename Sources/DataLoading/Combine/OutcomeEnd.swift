// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Combine)
    import DataLoadingTransport
    import Dispatch

    /// Gives the outcome of one whole load to a function, on the loader's queue.
    final class OutcomeEnd: LoadEnd {
        typealias Receive = @Sendable (Result<DataLoaderResponse, DataLoaderError>) -> Void

        let queue: DispatchQueue
        private let receive: Receive

        init(queue: DispatchQueue, _ receive: @escaping Receive) {
            self.queue = queue
            self.receive = receive
        }

        func outcomeIsReady(_ load: Load, by caller: Caller) {
            queue.async { [receive] in load.handOver { receive($0.whole) } }
        }
    }
#endif
