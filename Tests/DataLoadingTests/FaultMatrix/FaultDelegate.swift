// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    import DataLoading
    import DataLoadingTesting
    import Foundation

    /// The delegate of a load; compares chunks with the expected body without keeping them.
    final class FaultDelegate: DataLoaderChunkDelegate {
        struct Heard: Sendable {
            var initialResponses = 0
            var bytes: Int64 = 0
            var isPrefix = true
            var terminals: [Outcome] = []
            /// The number of calls after the last one.
            var lateCalls = 0
        }

        struct Outcome: Sendable {
            /// Nil for a cancelled load.
            let response: DataLoaderResponse?
            let isSuccess: Bool
            let at: ContinuousClock.Instant
        }

        private let meant: MeantBody
        private let tracer: FaultTracer
        private let state = Locked(Heard())
        private let ended = EventRecorder<Bool>()

        init(meant: MeantBody, tracer: FaultTracer) {
            self.meant = meant
            self.tracer = tracer
        }

        var heard: Heard { state.withLock { $0 } }

        /// Returns once the load has ended; false if it has not ended by then.
        func end(within limit: Duration) async -> Bool {
            let nanoseconds = Int(limit / .nanoseconds(1))
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) {
                [weak self] in self?.ended.record(false)
            }
            return await ended.first(1)[0]
        }

        private func end(_ response: DataLoaderResponse?, isSuccess: Bool) {
            state.withLock {
                if !$0.terminals.isEmpty { $0.lateCalls += 1 }
                $0.terminals.append(
                    Outcome(response: response, isSuccess: isSuccess, at: .now))
            }
            ended.record(true)
        }

        private func note(_ change: (inout Heard) -> Void) {
            state.withLock {
                if !$0.terminals.isEmpty { $0.lateCalls += 1 }
                change(&$0)
            }
        }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
        ) { end(response, isSuccess: true) }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
        ) { end(response, isSuccess: false) }

        func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {
            end(nil, isSuccess: false)
        }

        func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool { true }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveInitialResponse response: DataLoaderResponse
        ) { note { $0.initialResponses += 1 } }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
            forResponse response: DataLoaderResponse
        ) {
            note {
                if !meant.has(data, at: $0.bytes) { $0.isPrefix = false }
                $0.bytes += Int64(data.count)
            }
        }
    }
#endif
