// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Brings one load's body to its sink, and then lets another recipient hear of the outcome.
///
/// The outcome is handed on once the sink has kept or dropped what it got.
final class SinkRecipient: RecipientBefore {
    private struct State: Sendable {
        var drain = WindowDrain()
        /// Pieces are missing: whatever the outcome says, the body is not whole.
        var hasLost = false

        mutating func lose() -> FIFO<ChunkWindow.Item> {
            hasLost = true
            return drain.window.close()
        }
    }

    let base: any Recipient
    private let place: SinkPlace
    private let state = Locked(State())
    let sink: ResponseSink?

    init(_ sink: ResponseSink, before base: any Recipient) {
        self.sink = sink
        self.base = base
        place = SinkPlace(sink, closureQueue: base.queue)
    }

    /// The recipient for a request: with a sink in front, where it asks for one.
    static func make(for request: DataLoaderRequest, _ base: any Recipient) -> any Recipient {
        guard request.hasOptions, !request.chunks else { return base }
        let sink = request.responseSink
        if case .memory = sink.kind { return base }
        return SinkRecipient(sink, before: base)
    }

    var delivery: Delivery { sink?.isRestartable == true ? .restartable : .pieces }

    func didReceiveInitial(_ response: DataLoaderResponse, from exchange: Exchange) {
        state.withLock { $0.drain.window.append(response) }
        drainSoon(exchange)
    }

    func didReceive(_ chunk: Data, from exchange: Exchange) -> Bool {
        let isFull = state.withLock { $0.drain.window.append(chunk) }
        drainSoon(exchange)
        return isFull
    }

    var isFull: Bool { state.withLock { $0.drain.window.isFull } }

    func dropPending() {
        _ = state.withLock { $0.lose() }
        base.dropPending()
    }

    func outcomeIsReady(_ exchange: Exchange) {
        let starts = state.withLock { $0.drain.startWithOutcome() }
        if starts { place.async { self.drain(&$0, exchange) } }
    }

    private func drainSoon(_ exchange: Exchange) {
        let starts = state.withLock { $0.drain.start() }
        if starts { place.async { self.drain(&$0, exchange) } }
    }

    private func drain(_ sink: inout any BodySink, _ exchange: Exchange) {
        for _ in 0..<WindowDrain.mostInARow {
            switch state.withLock({ $0.drain.next() }) {
            case .take(let item): take(item, &sink, exchange)
            case .end: return settle(&sink, exchange)
            case .rest: return
            }
        }
        place.async { self.drain(&$0, exchange) }
    }

    private func take(
        _ item: ChunkWindow.Item, _ sink: inout any BodySink, _ exchange: Exchange
    ) {
        do throws(DataLoaderError) {
            switch item {
            case .initial:
                try sink.begin()
            case .chunk(let data):
                try sink.write(data)
                let opens = state.withLock { $0.drain.window.delivered(data.count) }
                if opens { exchange.windowHasOpened() }
            }
        } catch {
            _ = state.withLock { $0.lose() }
            exchange.sinkFailed(error)
        }
    }

    private func settle(_ sink: inout any BodySink, _ exchange: Exchange) {
        if state.withLock({ $0.hasLost }) { exchange.bodyWasLost() }
        if exchange.isSuccess {
            do throws(DataLoaderError) {
                try sink.commit()
            } catch {
                exchange.sinkFailed(error)
                sink.discard()
            }
        } else {
            sink.discard()
        }
        base.outcomeIsReady(exchange)
    }
}

/// Where a sink runs: what blocks on a queue of its own, a closure where its owner's code runs.
private enum SinkPlace: Sendable {
    case own(Confined<any BodySink>)
    /// One block at a time is seen to by the recipient, whatever kind of queue it is.
    case owners(ClosureSink, DispatchQueue)

    init(_ sink: ResponseSink, closureQueue: DispatchQueue) {
        let label = "DataLoading.sink"
        switch sink.kind {
        case .file(let url, let synchronizes):
            self = .own(Confined(FileSink(url, synchronizes: synchronizes), label: label))
        case .outputStream(let make):
            self = .own(Confined(StreamSink(make), label: label))
        case .closure(let receive):
            self = .owners(ClosureSink(receive: receive), closureQueue)
        case .memory:
            self = .owners(ClosureSink { _ in }, closureQueue)
        }
    }

    func async(_ body: @escaping @Sendable (inout any BodySink) -> Void) {
        switch self {
        case .own(let confined):
            confined.async(body)
        case .owners(let closure, let queue):
            queue.async {
                var sink: any BodySink = closure
                body(&sink)
            }
        }
    }
}
