// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Dispatch
import Foundation

/// Delivers one load to a loader's delegate in chunks, in order, also on a concurrent queue.
final class DelegateChunkEnd: ForwardingEnd {
    let base: any LoadEnd
    /// Delivers the items.
    private let pipe: BodyPipe<Void>

    init(_ delegateEnd: DelegateEnd) {
        base = delegateEnd
        // The head of the response, for the calls with chunks.
        let head = Locked<DataLoaderResponse?>(nil)
        pipe = BodyPipe { caller, work in
            delegateEnd.call(by: caller) {
                var nothing: Void = ()
                work(&nothing)
            }
        } deliver: { item, _, _ in
            Self.deliver(item, head, to: delegateEnd)
            return true
        } finish: { _, load in
            delegateEnd.handOver(load)
        }
    }

    private static func deliver(
        _ item: ChunkWindow.Item, _ held: Locked<DataLoaderResponse?>, to end: DelegateEnd
    ) {
        if case .initial(let response) = item { held.withLock { $0 = response } }
        guard let head = held.withLock({ $0 }), let (loader, delegate) = end.listener,
            let reader = delegate as? any DataLoaderChunkDelegate
        else { return }
        switch item {
        case .initial: reader.dataLoader(loader, didReceiveInitialResponse: head)
        case .chunk(let data):
            reader.dataLoader(loader, didReceiveDataChunk: data, forResponse: head)
        }
    }

    var delivery: BodyDelivery { .chunks }

    func didReceiveInitial(_ response: DataLoaderResponse, from load: Load, by caller: Caller) {
        pipe.append(response, from: load, by: caller)
    }

    func didReceive(_ bytes: Data, from load: Load, by caller: Caller) -> Bool {
        pipe.append(bytes, from: load, by: caller)
    }

    var isFull: Bool { pipe.isFull }

    func dropPending() { pipe.close() }

    func outcomeIsReady(_ load: Load, by caller: Caller) {
        pipe.outcomeIsReady(load, by: caller)
    }
}
