// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Hands whole loads to a loader's delegate.
final class DelegateRecipient: Recipient {
    private let core: LoaderCore

    init(_ core: LoaderCore) {
        self.core = core
    }

    var queue: DispatchQueue { core.queue }

    func askForChunkSupport(_ answer: @escaping @Sendable (Bool) -> Void) {
        core.askForChunkSupport(answer)
    }

    func askForBodyStream(
        _ request: DataLoaderRequest, _ answer: @escaping @Sendable (OneShotStream?) -> Void
    ) {
        core.askForBodyStream(request, answer)
    }

    func isWaitingForConnectivity(_ request: DataLoaderRequest) {
        core.isWaitingForConnectivity(request)
    }

    func didReceiveInitial(_ response: DataLoaderResponse, from exchange: Exchange) {}

    func didReceive(_ chunk: Data, from exchange: Exchange) -> Bool { false }

    func dropPending() {}

    func outcomeIsReady(_ exchange: Exchange) {
        core.queue.async { [core] in core.handOver(exchange) }
    }
}

extension LoaderCore {
    func askForChunkSupport(_ answer: @escaping @Sendable (Bool) -> Void) {
        queue.async { [self] in
            let isSupported = listener.map { $0.delegate.dataLoaderShouldSupportChunks($0.loader) }
            answer(isSupported ?? false)
        }
    }

    func askForBodyStream(
        _ request: DataLoaderRequest, _ answer: @escaping @Sendable (OneShotStream?) -> Void
    ) {
        queue.async { [self] in
            guard let (loader, delegate) = listener,
                let stream = delegate.dataLoader(loader, needsNewBodyStreamFor: request)
            else { return answer(nil) }
            answer(OneShotStream(stream))
        }
    }

    func isWaitingForConnectivity(_ request: DataLoaderRequest) {
        queue.async { [self] in
            guard let (loader, delegate) = listener else { return }
            delegate.dataLoader(loader, requestIsWaitingForConnectivity: request)
        }
    }

    /// Takes a load's outcome and makes the one terminal call; on the delegate queue.
    func handOver(_ exchange: Exchange) {
        guard let response = exchange.takeOutcome() else { return }
        if let (loader, delegate) = listener {
            switch response.error {
            case nil: delegate.dataLoader(loader, didReceiveSuccessfulResponse: response)
            case .cancelled: delegate.dataLoader(loader, didCancelRequest: response.request)
            default: delegate.dataLoader(loader, didReceiveErrorResponse: response)
            }
        }
        exchange.outcomeWasHandedOver()
    }
}
