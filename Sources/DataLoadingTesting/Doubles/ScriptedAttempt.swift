// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
public import DataLoading
import Dispatch
public import Foundation

/// One attempt with a `ScriptedTransport`, driven by its answer or by the test.
///
/// The driving methods return when the event has been delivered. After the end or a cancellation
/// they have no effect, like a closed connection.
///
/// A one-shot body is read to its end, as by a transport that sends it, before the first event that
/// shows that the request was written: progress, a head, or a failure that is not `.nothingWritten`.
/// If it cannot be read, or its length is not the declared one, the attempt fails with
/// `.requestBody` in place of that event. A request that was not written leaves the stream to the
/// next attempt.
public final class ScriptedAttempt: TransportTask {
    private struct State: Sendable {
        /// Nil once the attempt is over, so that nothing of the load is kept.
        var sink: (any TransportSink)?
        var isCancelled = false
        var isPaused = false
        var pauses = 0
        var report = TransportReport()
        /// What reading the body has given; nil before it was read.
        var body: Result<Data?, DataLoaderError>?
    }

    /// Identifies a transport's queue, so that an attempt can be driven from it.
    static let mark = DispatchSpecificKey<ObjectIdentifier>()

    /// The request that the transport received.
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
    /// The number of pauses.
    public var pauseCount: Int { state.withLock { $0.pauses } }

    /// Returns once it was cancelled.
    public func waitUntilCancelled() async { _ = await cancellation.first(1) }

    /// Returns once it was paused or resumed at least `count` times in all; true means paused.
    public func waitForFlowChanges(_ count: Int) async -> [Bool] { await flow.first(count) }

    /// Reads the request's body as a transport that sends it does; nil if it has none.
    ///
    /// The first call reads the body to its end, on the transport's queue, unless the attempt has
    /// read it already; the other calls return the same bytes. A stream that blocks blocks the
    /// transport's attempts.
    ///
    /// - Throws: `DataLoaderError.requestBody(reason:)` if the body cannot be read, if it is shorter
    ///   or longer than its declared length, or, of a one-shot stream, if an earlier attempt has read
    ///   it or this one has ended without.
    public func readBody() throws(DataLoaderError) -> Data? {
        try onQueue { bodyBytes() }.get()
    }

    /// Sets the report of sent and received bytes that the end of the attempt delivers.
    public func setReport(_ report: TransportReport) {
        state.withLock { $0.report = report }
    }

    /// Delivers a complete response.
    public func respond(
        status: Int, headers: HTTPHeaders = HTTPHeaders(), body: Data = Data()
    ) {
        onQueue {
            deliverHead(status, headers)
            if !body.isEmpty { deliverBody(body) }
            deliverEnd()
        }
    }

    /// Delivers upload progress.
    public func reportSent(_ bodyBytes: Int64, of total: Int64?) {
        onQueue {
            guard hasWrittenBody() else { return }
            openSink?.didSend(bodyBytes, of: total)
        }
    }

    /// Delivers a head.
    public func sendHead(status: Int, headers: HTTPHeaders = HTTPHeaders()) {
        onQueue { deliverHead(status, headers) }
    }

    /// Delivers a head whose body may lack a piece where it breaks off.
    package func sendHeadOfUnsafeBody(status: Int, headers: HTTPHeaders) {
        var head = DataLoading.ResponseHead(status: HTTPStatus(rawValue: status), headers: headers)
        head.mayLackPieces = true
        onQueue { deliver(head) }
    }

    /// Delivers a piece of the body.
    public func send(_ bytes: Data) {
        onQueue { deliverBody(bytes) }
    }

    /// Ends the response.
    public func end() {
        onQueue { deliverEnd() }
    }

    /// Ends the attempt with a failure.
    public func fail(
        _ kind: DataLoaderError.Kind, underlyingError: (any Error)? = nil,
        sent: SentState = .nothingWritten
    ) {
        let error = DataLoaderError(kind, underlyingError: underlyingError)
        onQueue { deliverFailure(error, sent) }
    }

    /// Performs an answer; also from inside `ScriptedAnswer.run`.
    public func give(_ answer: ScriptedAnswer) {
        onQueue { answer.give(to: self) }
    }

    /// Ends the attempt as cancelled, asynchronously.
    public func cancel() {
        let isFirst = state.withLock { state in
            defer { state.isCancelled = true }
            return !state.isCancelled
        }
        guard isFirst else { return }
        cancellation.record(())
        queue.async { self.deliverFailure(.cancelled, .written, evenIfCancelled: true) }
    }

    /// Records a pause.
    public func pause() {
        state.withLock { state in
            state.isPaused = true
            state.pauses += 1
        }
        flow.record(true)
    }

    /// Records a resumption.
    public func resume() {
        state.withLock { $0.isPaused = false }
        flow.record(false)
    }

    func deliverHead(_ status: Int, _ headers: HTTPHeaders) {
        deliver(DataLoading.ResponseHead(status: HTTPStatus(rawValue: status), headers: headers))
    }

    private func deliver(_ head: DataLoading.ResponseHead) {
        guard hasWrittenBody() else { return }
        openSink?.didReceive(head)
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
        sink.didEnd(report)
    }

    func deliverFailure(
        _ error: DataLoaderError, _ sent: SentState, evenIfCancelled: Bool = false
    ) {
        guard evenIfCancelled || openSink != nil else { return }
        if sent != .nothingWritten, !evenIfCancelled, !hasWrittenBody() { return }
        end(with: error, sent)
    }

    private func end(with error: DataLoaderError, _ sent: SentState) {
        guard let (sink, report) = takeEnd() else { return }
        sink.didFail(TransportFailure(error, sent: sent, report: report))
    }

    /// Reads a body that can be read once; false if it cannot be read, which ends the attempt.
    private func hasWrittenBody() -> Bool {
        guard case .oneShot? = request.body, openSink != nil else { return true }
        switch bodyBytes() {
        case .success: return true
        case .failure(let error):
            // One that was cancelled meanwhile ends as cancelled.
            if openSink != nil { end(with: error, .written) }
            return false
        }
    }

    /// The bytes of the body, which the first call reads; to be called on the transport's queue.
    private func bodyBytes() -> Result<Data?, DataLoaderError> {
        if let known = state.withLock({ $0.body }) { return known }
        if case .oneShot? = request.body, openSink == nil {
            // Another attempt may send the stream now.
            return .failure(.requestBody(reason: "the attempt has ended"))
        }
        // A user's stream is read outside the lock.
        let read = Result { () throws(DataLoaderError) in try request.body?.readAll() }
        state.withLock { $0.body = read }
        return read
    }

    /// Runs `body` on the transport's queue; inline when called there.
    private func onQueue<Value>(_ body: () -> Value) -> Value {
        if DispatchQueue.getSpecific(key: Self.mark) == ObjectIdentifier(queue) {
            body()
        } else {
            queue.sync(execute: body)
        }
    }

    private var openSink: (any TransportSink)? {
        state.withLock { $0.isCancelled ? nil : $0.sink }
    }

    /// Takes the sink and the report; nil from the second call on.
    private func takeEnd() -> (any TransportSink, TransportReport)? {
        state.withLock { state in
            guard let sink = state.sink else { return nil }
            state.sink = nil
            return (sink, state.report)
        }
    }
}

extension RequestBody {
    /// Reads the body to its end.
    fileprivate func readAll() throws(DataLoaderError) -> Data {
        if let bytes { return bytes }
        var source = try openSource()
        defer { source.close() }
        var bytes = Data()
        while let chunk = try source.next() { bytes.append(chunk) }
        return bytes
    }
}
