// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Dispatch
import Foundation

/// Delivers one load to a loader's delegate in chunks, in order, also on a concurrent queue.
final class DelegateChunkEnd: ForwardingEnd {
    let base: any LoadEnd
    /// Delivers the items, and holds the head of the response for the calls with chunks.
    private let pipe: BodyPipe<DataLoaderResponse?>

    init(_ delegateEnd: DelegateEnd) {
        base = delegateEnd
        let head = QueueIsolated<DataLoaderResponse?>(nil, on: delegateEnd.queue)
        pipe = BodyPipe(at: { head.async($0) }) { item, head, _ in
            Self.deliver(item, &head, to: delegateEnd)
            return true
        } finish: { _, load in
            delegateEnd.handOver(load)
        }
    }

    private static func deliver(
        _ item: ChunkWindow.Item, _ head: inout DataLoaderResponse?, to end: DelegateEnd
    ) {
        if case .initial(let response) = item { head = response }
        guard let head, let (loader, delegate) = end.listener,
            let reader = delegate as? any DataLoaderChunkDelegate
        else { return }
        switch item {
        case .initial: reader.dataLoader(loader, didReceiveInitialResponse: head)
        case .chunk(let data):
            reader.dataLoader(loader, didReceiveDataChunk: data, forResponse: head)
        }
    }

    var delivery: Delivery { .chunks }

    func didReceiveInitial(_ response: DataLoaderResponse, from load: Load) {
        pipe.append(response, from: load)
    }

    func didReceive(_ bytes: Data, from load: Load) -> Bool { pipe.append(bytes, from: load) }

    var isFull: Bool { pipe.isFull }

    func dropPending() { pipe.close() }

    func outcomeIsReady(_ load: Load) { pipe.outcomeIsReady(load) }
}
