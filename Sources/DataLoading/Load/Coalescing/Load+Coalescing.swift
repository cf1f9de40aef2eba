// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension Load {
    /// Joins the load that is sent for all loads with one request, or starts it.
    func share(_ target: RequestTarget, _ epoch: Int) {
        guard let key = SharedLoadKey(request, target) else {
            return handle(.notShared(epoch: epoch))
        }
        let (carrier, isNew) = context.carriers.join(key, self, epoch, queue: runtime.queue)
        if isNew {
            var whole = self.request
            whole.coalescing = .none
            // Each load has its own deadline, and the last one that leaves ends the carrier.
            whole.timeout = .seconds(Int32.max)
            carrier.started(context.start(whole, carrier, in: context.background))
        }
        handle(.follows(carrier, epoch: epoch))
        if !isNew { carrier.refuse(self, epoch) }
    }

    /// Ends a load whose deadline passes before the request that it shares can start.
    func refuse(_ epoch: Int, becauseOf wait: Duration) {
        let error = DataLoaderError.rateLimited(wait: wait)
        handle(.failed(error.occurring(.waitingForSlot), epoch: epoch))
    }
}

extension LoadFacts {
    /// Takes the response of the load that was sent for several.
    mutating func take(_ shared: SharedResponse) {
        let response = shared.response
        if let status = response.statusCode {
            head = ResponseHead(status: status, headers: response.headers)
        }
        body = response.body
        if shared.mayHaveSent { mayHaveBeenProcessed = true }
        if let url = response.resolvedURL { base.url = url }
        guard shared.isCounted else {
            return count {
                $0.source = .coalesced
                $0.cacheStatus?.isCollapsed = true
            }
        }
        times = StageTimes()
        count { metrics in
            let own = metrics.load
            metrics = response.metrics
            metrics.load = own
        }
    }
}
