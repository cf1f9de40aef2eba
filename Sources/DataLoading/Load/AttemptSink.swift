// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingCache
import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Receives one attempt's transport events, and controls its transfer.
///
/// It can be paused and cancelled before the transport has returned its handle.
final class AttemptSink: TransportSink {
    private enum Transfer: Sendable {
        case unstarted(isPaused: Bool)
        case running(any TransportTask)
        case cancelledEarly
        case ended
    }

    /// A stored response.
    private struct Stored: Sendable {
        let head: ResponseHead
        let body: StoredBody
    }

    let origin: Origin
    let candidate: HostResolver.Candidate
    let begun: Instant
    /// Where its response comes from.
    let source: ResponseSource
    /// What is sent; of an attempt that a stored response answers, only the URL.
    ///
    /// It is no case beside `stored`, because taking it out of an enum would copy it.
    private let request: TransportRequest
    private let stored: Stored?
    private let load: Load
    private let transfer = Locked(Transfer.unstarted(isPaused: false))

    init(
        load: Load, origin: Origin, candidate: HostResolver.Candidate, request: TransportRequest,
        begun: Instant
    ) {
        self.load = load
        self.origin = origin
        self.candidate = candidate
        self.request = request
        stored = nil
        source = .network
        self.begun = begun
    }

    /// Makes the attempt that is answered by a stored response.
    init(
        load: Load, origin: Origin, playing head: ResponseHead, _ body: StoredBody,
        _ source: ResponseSource, begun: Instant
    ) {
        self.load = load
        self.origin = origin
        candidate = .name
        request = TransportRequest(url: load.request.url)
        stored = Stored(head: head, body: body)
        self.source = source
        self.begun = begun
    }

    /// Whether a stored response is played, which no server sends.
    var isStored: Bool { source != .network }

    /// Why the attempt follows another one; nil for the first of its load.
    var cause: AttemptContext.Cause? { request.context.cause }

    /// Whether the request goes through a proxy.
    var isProxied: Bool { request.proxy != nil }

    /// Whether a response is the proxy's demand for a credential.
    ///
    /// Through a tunnel a server may send a 407 too, which must not cost the proxy's credential, nor
    /// send the request again.
    func isRefusedByProxy(_ head: ResponseHead) -> Bool {
        head.status == .proxyAuthenticationRequired && isProxied
            && (!origin.isSecure || head.refusesTunnel)
    }

    /// The slots that the attempt holds.
    var slots: Origin? { isStored ? nil : origin }

    /// Hands the request to a transport.
    ///
    /// `isStarted` is false when the attempt was cancelled before. `isPaused` is true when it was
    /// paused before the transport returned its handle.
    func start(on transport: any Transport) -> (isStarted: Bool, isPaused: Bool) {
        if case .cancelledEarly = transfer.withLock({ $0 }) { return (false, false) }
        let playing = stored.map {
            StoredTransfer(
                $0.head, $0.body, inPieces: load.end.delivery != .whole,
                queue: load.runtime.queue, sink: self)
        }
        let task = playing ?? transport.start(request, sink: self)
        let before = transfer.withLock { transfer in
            let before = transfer
            if case .unstarted = before { transfer = .running(task) }
            return before
        }
        switch before {
        case .unstarted(let isPaused):
            playing?.start()
            return (true, isPaused)
        case .cancelledEarly: task.cancel()
        case .running, .ended: break
        }
        return (true, false)
    }

    /// Cancels the attempt; returns whether any of the request may have been sent.
    ///
    /// It returns true when no transfer is running.
    @discardableResult func cancel() -> Bool {
        let before = transfer.withLock { transfer in
            let before = transfer
            if case .unstarted = before { transfer = .cancelledEarly }
            return before
        }
        switch before {
        case .unstarted, .cancelledEarly, .ended: return true
        case .running(let task):
            task.cancel()
            return task.mayHaveSent
        }
    }

    func pause() { handle(isPaused: true)?.pause() }

    func resume() { handle(isPaused: false)?.resume() }

    private func handle(isPaused: Bool) -> (any TransportTask)? {
        transfer.withLock { transfer in
            switch transfer {
            case .unstarted: transfer = .unstarted(isPaused: isPaused)
            case .running(let task): return task
            case .cancelledEarly, .ended: break
            }
            return nil
        }
    }

    func didSend(_ bodyBytes: Int64, of total: Int64?) {
        guard load.reporter != nil else { return }
        load.handle(.sent(BodyProgress(completed: bodyBytes, total: total), self))
    }

    func didReceive(_ head: ResponseHead) {
        let isFromOrigin = !isStored && !isRefusedByProxy(head)
        if isFromOrigin { load.runtime.originHealth.noteResponse(from: origin) }
        load.handle(.head(head, self))
    }

    func didReceive(_ bytes: Data) {
        load.handle(.bytes(bytes, self))
    }

    func didEnd(_ report: TransportReport) {
        ended(report, nil)
    }

    func didFail(_ failure: TransportFailure) {
        ended(failure.report, failure)
    }

    /// Handles the first end only: a third-party transport may end an attempt twice, and the second
    /// end would count for another attempt.
    private func ended(_ report: TransportReport, _ failure: TransportFailure?) {
        let before = transfer.withLock { transfer in
            defer { transfer = .ended }
            return transfer
        }
        if case .ended = before { return }
        load.attemptEnded(self, report, failure)
    }
}
