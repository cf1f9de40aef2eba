// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Whole loads, and whatever any load asks, go to the loader's delegate.
extension LoaderCore: Recipient {
    func askForChunkSupport(
        _ exchange: Exchange, _ answer: @escaping @Sendable (Bool) -> Void
    ) {
        queue.async { [self] in
            let isSupported = listener(of: exchange).map { listener in
                listener.delegate.dataLoaderShouldSupportChunks(listener.loader)
            }
            answer(isSupported ?? false)
        }
    }

    func askForBodyStream(
        _ exchange: Exchange, _ answer: @escaping @Sendable (OneShotStream?) -> Void
    ) {
        queue.async { [self] in
            guard let (loader, delegate) = listener(of: exchange),
                let stream = delegate.dataLoader(loader, needsNewBodyStreamFor: exchange.request)
            else { return answer(nil) }
            answer(OneShotStream(stream))
        }
    }

    func isWaitingForConnectivity(_ exchange: Exchange) {
        queue.async { [self] in
            guard let (loader, delegate) = listener(of: exchange) else { return }
            delegate.dataLoader(loader, requestIsWaitingForConnectivity: exchange.request)
        }
    }

    func outcomeIsReady(_ exchange: Exchange) {
        deliveries.add(exchange)
    }

    /// Whom to ask about a load; nobody once it is decided, for its last call may have been made.
    private func listener(
        of exchange: Exchange
    ) -> (loader: DataLoader, delegate: any DataLoaderDelegate)? {
        exchange.isDecided ? nil : listener
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
