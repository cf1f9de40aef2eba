// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import Foundation
import Testing

/// A sink that records the events of one attempt, and lets a test wait for its end.
final class AttemptRecorder: TransportSink {
    struct Record: Sendable {
        var head: ResponseHead?
        var body = Data()
        var byteCount: Int64 = 0
        /// The report of a regular end.
        var end: TransportReport?
        var failure: TransportFailure?
        /// When the end came, regardless of when the test reads it.
        var endedAt: ContinuousClock.Instant?
        /// The number of ends and failures; 1 is right.
        var endings = 0
        /// The number of events after an end; 0 is right.
        var late = 0

        func time(since start: ContinuousClock.Instant) -> Duration {
            (endedAt ?? .now) - start
        }

        var error: DataLoaderError? { failure?.error }
        var text: String { String(decoding: body, as: UTF8.self) }
        var report: TransportReport { end ?? failure?.report ?? TransportReport() }
    }

    private struct State {
        var record = Record()
        var waiters: [CheckedContinuation<Record, Never>] = []
    }

    private let state = Locked(State())
    private let keepsBody: Bool
    private let onHead: @Sendable (ResponseHead) -> Void
    private let onBytes: @Sendable (Data) -> Void
    private let onEnd: @Sendable () -> Void

    init(
        keepsBody: Bool = true, onHead: @escaping @Sendable (ResponseHead) -> Void = { _ in },
        onBytes: @escaping @Sendable (Data) -> Void = { _ in },
        onEnd: @escaping @Sendable () -> Void = {}
    ) {
        self.keepsBody = keepsBody
        self.onHead = onHead
        self.onBytes = onBytes
        self.onEnd = onEnd
    }

    var record: Record { state.withLock { $0.record } }

    /// Returns when the attempt has ended.
    func ended() async -> Record {
        await withCheckedContinuation { continuation in
            let record: Record? = state.withLock { state in
                guard state.record.endings == 0 else { return state.record }
                state.waiters.append(continuation)
                return nil
            }
            if let record { continuation.resume(returning: record) }
        }
    }

    func didReceive(_ head: ResponseHead) {
        note { $0.head = head }
        onHead(head)
    }

    func didReceive(_ bytes: Data) {
        let keepsBody = keepsBody
        note { record in
            if keepsBody { record.body += bytes }
            record.byteCount += Int64(bytes.count)
        }
        onBytes(bytes)
    }

    func didEnd(_ report: TransportReport) {
        finish { $0.end = report }
    }

    func didFail(_ failure: TransportFailure) {
        finish { $0.failure = failure }
    }

    private func note(_ change: @Sendable (inout Record) -> Void) {
        state.withLock { state in
            if state.record.endings > 0 { state.record.late += 1 }
            change(&state.record)
        }
    }

    private func finish(_ change: @Sendable (inout Record) -> Void) {
        let (record, waiters) = state.withLock { state in
            if state.record.endings > 0 { state.record.late += 1 }
            change(&state.record)
            state.record.endings += 1
            state.record.endedAt = .now
            defer { state.waiters = [] }
            return (state.record, state.waiters)
        }
        onEnd()
        for waiter in waiters { waiter.resume(returning: record) }
    }
}

extension Transport {
    /// Runs an attempt to its end.
    func run(_ attempt: TransportRequest) async -> AttemptRecorder.Record {
        let sink = AttemptRecorder()
        _ = start(attempt, sink: sink)
        return await sink.ended()
    }

    /// Runs so many attempts at once to their ends.
    func run(_ count: Int, _ attempt: TransportRequest) async -> [AttemptRecorder.Record] {
        await withTaskGroup(of: AttemptRecorder.Record.self) { group in
            for _ in 0..<count { group.addTask { await run(attempt) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Runs a GET to its end.
    func get(_ url: URL) async -> AttemptRecorder.Record {
        await run(TransportRequest(url: url))
    }
}

extension URL {
    /// Returns the root URL of a host that no server has.
    static func host(_ name: String) throws -> URL {
        try #require(URL(string: "http://\(name)/"))
    }
}
