// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension DataLoader {
    /// Makes a call: a load that is described in a chain and starts with its first handler.
    ///
    /// Dropping the loader cancels a call that has handlers and is not kept. A call that is kept or
    /// awaited continues.
    public func request(_ url: URL, sourceIdentifier: String? = nil) -> DataLoaderCall {
        let request = DataLoaderRequest(url: url, sourceIdentifier: sourceIdentifier)
        return CallCore(request, loader: core).handle(retaining: core)
    }

    /// The calls that have started and whose outcome is not delivered yet, oldest first.
    ///
    /// Calls that the program does not keep are listed too. `cancelAllLoads()` cancels all of them.
    public var calls: [DataLoaderCall] {
        // The load that an interceptor has started ends in the end of the call too.
        registry.loads.lazy.filter { $0.interception == nil }.compactMap { load in
            let end = (load.end as? any ForwardingEnd)?.base ?? load.end
            return (end as? CallEnd)?.call.handle(retaining: core)
        }
    }
}
