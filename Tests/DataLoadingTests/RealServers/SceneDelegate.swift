// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingSupport
    import DataLoading
    import DataLoadingTesting
    import Foundation

    /// The delegate of one loader; counts outcomes after the first one of each load.
    final class SceneDelegate: DataLoaderChunkDelegate {
        /// Nil for a cancelled load.
        typealias Ending = @Sendable (DataLoaderResponse?, Data) -> Void

        private struct State: Sendable {
            var endings: [Int64: Ending] = [:]
            var chunks: [Int64: Data] = [:]
        }

        private let state = Locked(State())
        private let ledger: SceneLedger

        init(ledger: SceneLedger) {
            self.ledger = ledger
        }

        /// Performs a request and returns its outcome with the chunks before it.
        func outcome(
            of request: DataLoaderRequest, with loader: DataLoader,
            _ start: (CancellationToken) -> Void
        ) async -> (DataLoaderResponse?, Data) {
            await withCheckedContinuation { continuation in
                state.withLock {
                    $0.endings[request.uniqueIdentifier] = {
                        continuation.resume(returning: ($0, $1))
                    }
                }
                start(loader.perform(request))
            }
        }

        /// Accepts an outcome that no user waits for, if it comes before the loader is released.
        func letGo(of request: DataLoaderRequest) {
            state.withLock { $0.endings[request.uniqueIdentifier] = { _, _ in } }
        }

        private func end(_ request: DataLoaderRequest, _ response: DataLoaderResponse?) {
            let (ending, chunks) = state.withLock { state in
                let number = request.uniqueIdentifier
                return (
                    state.endings.removeValue(forKey: number),
                    state.chunks.removeValue(forKey: number)
                )
            }
            guard let ending else { return ledger.note { $0.doubles += 1 } }
            ending(response, chunks ?? Data())
        }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
        ) { end(response.request, response) }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
        ) { end(response.request, response) }

        func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {
            end(request, nil)
        }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveInitialResponse response: DataLoaderResponse
        ) {}

        func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool { true }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
            forResponse response: DataLoaderResponse
        ) {
            state.withLock {
                $0.chunks[response.request.uniqueIdentifier, default: Data()].append(data)
            }
        }
    }
#endif
