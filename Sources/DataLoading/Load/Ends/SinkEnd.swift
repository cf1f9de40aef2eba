// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
import Dispatch
import Foundation

/// Writes one load's body to its sink, and then lets another end take the outcome.
///
/// The other end takes the outcome after the sink has kept or dropped the body.
final class SinkEnd: ForwardingEnd {
    let base: any LoadEnd
    let sink: ResponseSink?
    private let place: SinkPlace
    private let pipe: BodyPipe<any BodySink>

    init(_ sink: ResponseSink, for request: DataLoaderRequest, before base: any LoadEnd) {
        self.sink = sink
        self.base = base
        let place = SinkPlace(
            sink, continuing: request.resumesFile ? request : nil, closureQueue: base.queue)
        self.place = place
        pipe = BodyPipe(at: { place.async($1) }) { item, sink, load in
            Self.deliver(item, to: &sink, load)
        } finish: { sink, load in
            Self.settle(&sink, load)
            base.outcomeIsReady(load, by: .other)
        }
    }

    private static func deliver(
        _ item: ChunkWindow.Item, to sink: inout any BodySink, _ load: Load
    ) -> Bool {
        do throws(DataLoaderError) {
            switch item {
            case .initial(let response): try sink.begin(response)
            case .chunk(let bytes): try sink.write(bytes)
            }
            return true
        } catch {
            load.handle(.sinkFailed(error))
            return false
        }
    }

    /// Keeps the body of a success, and drops any other.
    private static func settle(_ sink: inout any BodySink, _ load: Load) {
        guard load.isSuccess else { return sink.discard() }
        do throws(DataLoaderError) {
            try sink.commit()
        } catch {
            load.handle(.sinkFailed(error))
            sink.discard()
        }
    }

    /// Returns the end for a request: with a sink in front, if the request asks for one.
    static func make(for request: DataLoaderRequest, _ base: any LoadEnd) -> any LoadEnd {
        guard request.hasOptions, !request.chunks else { return base }
        let sink = request.responseSink
        if case .memory = sink.kind { return base }
        return SinkEnd(sink, for: request, before: base)
    }

    /// Writes a response's body that no transfer delivers; keeps it only while `isWanted` returns
    /// true.
    static func write(
        _ body: Data, of response: DataLoaderResponse, to sink: ResponseSink, queue: DispatchQueue,
        while isWanted: @escaping @Sendable () -> Bool
    ) async throws {
        if let limit = sink.limit, body.count > limit {
            throw DataLoaderError.bodyTooLarge(limit: limit)
        }
        let place = SinkPlace(sink, continuing: nil, closureQueue: queue)
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            place.async { sink in
                do throws(DataLoaderError) {
                    guard isWanted() else { throw .cancelled }
                    try sink.begin(response)
                    if !body.isEmpty { try sink.write(body) }
                    guard isWanted() else { throw .cancelled }
                    try sink.commit()
                    done.resume()
                } catch {
                    sink.discard()
                    done.resume(throwing: error)
                }
            }
        }
    }

    var delivery: BodyDelivery { sink?.isRestartable == true ? .restartable : .pieces }

    func prepareSink(
        _ load: Load, _ answer: @escaping @Sendable (Result<StoredPart?, DataLoaderError>) -> Void
    ) {
        place.async { sink in
            answer(
                Result { () throws(DataLoaderError) in
                    try sink.prepare { load.isEnding }
                })
        }
    }

    func didReceiveInitial(_ response: DataLoaderResponse, from load: Load, by caller: Caller) {
        pipe.append(response, from: load, by: caller)
    }

    func didReceive(_ bytes: Data, from load: Load, by caller: Caller) -> Bool {
        pipe.append(bytes, from: load, by: caller)
    }

    var isFull: Bool { pipe.isFull }

    func dropPending() {
        pipe.close()
        base.dropPending()
    }

    func outcomeIsReady(_ load: Load, by caller: Caller) { pipe.outcomeIsReady(load, by: caller) }
}

/// The queue of a sink: its own queue for a file or stream, the owner's queue for a closure.
private enum SinkPlace: Sendable {
    case own(QueueIsolated<any BodySink>)
    /// The pipe runs one block at a time, also on a concurrent queue.
    case owners(ClosureSink, DispatchQueue)

    /// Makes the place; with a request, its file may continue what an earlier load has left.
    init(
        _ sink: ResponseSink, continuing request: DataLoaderRequest?, closureQueue: DispatchQueue
    ) {
        let label = "DataLoading.sink"
        switch sink.kind {
        case .file(let url, let options):
            let sha256 = options.sha256.flatMap { SHA256.hash(hex: $0) }
            let file: any BodySink
            if let request {
                file = ResumableFileSink(url, for: request, limit: sink.limit, sha256: sha256)
            } else {
                file = FileSink(url, synchronizes: options.synchronizes, sha256: sha256)
            }
            self = .own(QueueIsolated(file, label: label))
        case .outputStream(let make):
            self = .own(QueueIsolated(StreamSink(make), label: label))
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
