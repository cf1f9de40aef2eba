// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading
import Dispatch
public import Foundation

/// One attempt with a `ScriptedTransport`, driven by its answer or by the test.
///
/// The driving methods return when the event has been heard. After the end, or once the attempt was
/// cancelled, they do nothing, as a wire does.
public final class ScriptedAttempt: TransportTask {
    private struct State: Sendable {
        /// Missing once the attempt is over, so that nothing of the load is kept.
        var sink: (any TransportSink)?
        var isCancelled = false
        var isPaused = false
        var pauses = 0
        var report = TransportReport()
    }

    /// Marks a transport's queue, so that an attempt can be driven from there.
    static let mark = DispatchSpecificKey<ObjectIdentifier>()

    /// The attempt as the transport got it.
    public let request: TransportRequest
    private let queue: DispatchQueue
    private let state: Locked<State>
    private let cancellation = EventRecorder<Void>()
    private let flow = EventRecorder<Bool>()

    init(request: TransportRequest, sink: any TransportSink, queue: DispatchQueue) {
        self.request = request
        self.queue = queue
        state = Locked(State(sink: sink))
    }

    /// Whether it was cancelled.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }
    /// Whether it is paused.
    public var isPaused: Bool { state.withLock { $0.isPaused } }
    /// How often it was paused.
    public var pauseCount: Int { state.withLock { $0.pauses } }

    /// Returns once it was cancelled.
    public func waitUntilCancelled() async { _ = await cancellation.first(1) }

    /// Returns once it was paused or resumed at least `count` times in all; true stands for paused.
    public func waitForFlowChanges(_ count: Int) async -> [Bool] { await flow.first(count) }

    /// Sets what the end of the attempt will report as sent and received.
    public func setReport(_ report: TransportReport) {
        state.withLock { $0.report = report }
    }

    /// Sends a whole response.
    public func respond(
        status: Int, headers: HTTPHeaders = HTTPHeaders(), body: Data = Data()
    ) {
        onQueue {
            deliverHead(status, headers)
            if !body.isEmpty { deliverBody(body) }
            deliverEnd()
        }
    }

    /// Tells how much of the request's body was taken over.
    public func reportSent(_ bodyBytes: Int64, of total: Int64?) {
        onQueue { openSink?.didSend(bodyBytes, of: total) }
    }

    /// Sends a head.
    public func sendHead(status: Int, headers: HTTPHeaders = HTTPHeaders()) {
        onQueue { deliverHead(status, headers) }
    }

    /// Sends a piece of the body.
    public func send(_ bytes: Data) {
        onQueue { deliverBody(bytes) }
    }

    /// Ends the response.
    public func end() {
        onQueue { deliverEnd() }
    }

    /// Ends the attempt with a failure.
    public func fail(_ error: DataLoaderError, sent: SentState = .nothingWritten) {
        onQueue { deliverFailure(error, sent) }
    }

    /// Does what an answer says; also from inside `ScriptedAnswer.run`.
    public func give(_ answer: ScriptedAnswer) {
        onQueue { answer.give(to: self) }
    }

    /// Ends the attempt as cancelled, soon.
    public func cancel() {
        let isFirst = state.withLock { state in
            defer { state.isCancelled = true }
            return !state.isCancelled
        }
        guard isFirst else { return }
        cancellation.record(())
        queue.async { self.deliverFailure(.cancelled, .written, evenIfCancelled: true) }
    }

    /// Notes that nothing more is wanted for now.
    public func pause() {
        state.withLock { state in
            state.isPaused = true
            state.pauses += 1
        }
        flow.record(true)
    }

    /// Notes that more is wanted.
    public func resume() {
        state.withLock { $0.isPaused = false }
        flow.record(false)
    }

    func deliverHead(_ status: Int, _ headers: HTTPHeaders) {
        openSink?.didReceive(
            DataLoading.ResponseHead(status: HTTPStatus(rawValue: status), headers: headers))
    }

    func deliverBody(_ bytes: Data) {
        guard let sink = openSink else { return }
        state.withLock { state in
            state.report.bodyBytesReceived += Int64(bytes.count)
            state.report.decodedBytes += Int64(bytes.count)
        }
        sink.didReceive(bytes)
    }

    func deliverEnd() {
        guard openSink != nil, let (sink, report) = takeEnd() else { return }
        sink.didEnd(TransportEnd(report: report))
    }

    func deliverFailure(
        _ error: DataLoaderError, _ sent: SentState, evenIfCancelled: Bool = false
    ) {
        guard evenIfCancelled || openSink != nil, let (sink, report) = takeEnd() else { return }
        sink.didFail(TransportFailure(error, sent: sent, report: report))
    }

    /// Runs on the transport's queue, at once when it is called there.
    private func onQueue(_ body: () -> Void) {
        if DispatchQueue.getSpecific(key: Self.mark) == ObjectIdentifier(queue) {
            body()
        } else {
            queue.sync(execute: body)
        }
    }

    private var openSink: (any TransportSink)? {
        state.withLock { $0.isCancelled ? nil : $0.sink }
    }

    /// The sink and the report, once.
    private func takeEnd() -> (any TransportSink, TransportReport)? {
        state.withLock { state in
            guard let sink = state.sink else { return nil }
            state.sink = nil
            return (sink, state.report)
        }
    }
}
