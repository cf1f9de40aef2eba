// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading
import Foundation

/// Receives one attempt of a transport, and notes what breaks the order of events.
final class ContractSink: TransportSink {
    enum Event: Sendable {
        case head(DataLoading.ResponseHead)
        case bytes(Data)
        case end
        case failure(DataLoaderError)

        var isEnd: Bool {
            switch self {
            case .head, .bytes: false
            case .end, .failure: true
            }
        }
    }

    static let isCalledInsideStart = "The transport calls its sink inside start(_:sink:)."
    private let report: ContractReport
    private let react: @Sendable (Event, any TransportTask) -> Void
    /// What came so far.
    private struct Response: Sendable {
        var head: DataLoading.ResponseHead?
        var body = Data()
        var end: Event?
    }

    private let response = Locked(Response())
    private let ends = EventRecorder<Void>()
    private let calls = Locked(0)
    private let starter = Locked<UInt?>(nil)
    private let task = Locked<(any TransportTask)?>(nil)
    private let hasTask = DispatchSemaphore(value: 0)

    /// Makes a sink that calls `react` inside each call of the transport.
    init(
        _ report: ContractReport,
        react: @escaping @Sendable (Event, any TransportTask) -> Void = { _, _ in }
    ) {
        self.report = report
        self.react = react
    }

    /// Starts an attempt that this sink receives.
    @discardableResult
    func start(_ request: TransportRequest, with transport: any Transport) -> any TransportTask {
        starter.withLock { $0 = Self.currentThread }
        let started = transport.start(request, sink: self)
        starter.withLock { $0 = nil }
        task.withLock { $0 = started }
        hasTask.signal()
        if response.withLock({ $0.end != nil }) { releaseTask() }
        return started
    }

    /// Waits for the end; returns false when it does not come in time.
    func hasEnded(within limit: TimeLimit) async -> Bool {
        let hasEnded = await limit.runTask({ await self.ends.first(1) }) != nil
        // A transport that lost the end may keep the sink for ever, and the sink its task.
        // So may the wait, which the recorder holds.
        if !hasEnded {
            releaseTask()
            ends.record(())
        }
        return hasEnded
    }

    var status: HTTPStatus? { response.withLock { $0.head?.status } }

    var body: Data { response.withLock { $0.body } }

    /// The error of the failure; nil for an end, and before it.
    var error: DataLoaderError? {
        if case .failure(let error) = response.withLock({ $0.end }) { error } else { nil }
    }

    /// Whether the response was said to be complete.
    var isComplete: Bool {
        if case .end = response.withLock({ $0.end }) { true } else { false }
    }

    func didReceive(_ head: DataLoading.ResponseHead) { receive(.head(head)) }
    func didReceive(_ bytes: Data) { receive(.bytes(bytes)) }
    func didEnd(_ report: TransportReport) { receive(.end) }
    func didFail(_ failure: TransportFailure) { receive(.failure(failure.error)) }

    /// The thread that runs; `Thread.current` leaves an object behind on each thread of Dispatch.
    private static var currentThread: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: pthread_self())
        #else
            UInt(pthread_self())
        #endif
    }

    private func receive(_ event: Event) {
        let isInside = starter.withLock { $0 == Self.currentThread }
        report.expect(!isInside, Self.isCalledInsideStart)
        report.expect(
            calls.add(1) == 1,
            "The transport calls its sink from two threads at once.")
        let (hadHead, hadEnd) = response.withLock { response in
            let before = (response.head != nil, response.end != nil)
            switch event {
            case .head(let head): if response.head == nil { response.head = head }
            case .bytes(let bytes): response.body += bytes
            case .end, .failure: if response.end == nil { response.end = event }
            }
            return before
        }
        checkOrder(of: event, hadHead: hadHead, hadEnd: hadEnd)
        let isOver = event.isEnd || hadEnd
        if !isInside, !isOver, let task = handle() { react(event, task) }
        calls.add(-1)
        if event.isEnd {
            releaseTask()
            ends.record(())
        }
    }

    private func checkOrder(of event: Event, hadHead: Bool, hadEnd: Bool) {
        report.expect(
            !hadEnd, "The transport calls its sink again after the end.")
        switch event {
        case .head(let head):
            report.expect(!hadHead, "The transport delivers two heads.")
            report.expect(
                head.status.rawValue >= 200, "The transport delivers an informational head.")
        case .bytes:
            report.expect(hadHead, "The transport delivers bytes before the head.")
        case .end:
            report.expect(hadHead, "The transport ends a response that has no head.")
        case .failure: break
        }
    }

    /// The task, for which a call that comes before `start` has returned waits; nil after the end.
    private func handle() -> (any TransportTask)? {
        if let task = task.withLock({ $0 }) { return task }
        hasTask.wait()
        hasTask.signal()
        return task.withLock { $0 }
    }

    /// Releases the task, which may retain this sink.
    private func releaseTask() {
        // Released outside the lock, as the task is a user's object.
        _ = task.withLock { $0.take() }
    }
}
