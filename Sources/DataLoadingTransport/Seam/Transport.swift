// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Carries out one attempt of a load: over the network, from a cache or by a script.
///
/// A transport never redirects, retries, keeps cookies, authorises or limits rates: its caller
/// does. A transport that reaches a network refuses an attempt whose `cachePolicy` is `.cacheOnly`
/// with `.notCached`. Transports that wrap another pass `reset` and `shutDown` on exactly once, and
/// return it as `wrapped`.
public protocol Transport: Sendable {
    /// Starts one attempt without waiting.
    ///
    /// The sink receives, in order and from one thread at a time: one final head, body bytes, then
    /// exactly one end or one failure. That also holds after `cancel`, when the failure is
    /// `.cancelled` unless the end came first. The sink is never called inside `start`.
    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask

    /// Drops cached state: responses and idle connections; later attempts use nothing from before.
    func reset() async

    /// Ends every attempt and releases threads and sockets; later attempts fail.
    func shutDown() async

    /// The transport to which this one passes attempts; nil by default, for one that passes none.
    ///
    /// A service asks it for what a wrapper does not know: whether its threads answer (for the
    /// watchdog and the health check), its connections, and the executor of its threads.
    var wrapped: (any Transport)? { get }
}

extension Transport {
    /// Nil.
    public var wrapped: (any Transport)? { nil }

    /// The first transport of a kind: this one, or one that it wraps, at most 64 deep.
    package func first<Kind>(_ kind: Kind.Type) -> Kind? {
        var next: (any Transport)? = self
        // A wrapper that returns itself has no end.
        for _ in 0..<64 {
            if let found = next as? Kind { return found }
            next = next?.wrapped
        }
        return nil
    }
}

/// A handle on a running attempt; every method may be called from any thread, at any time, more
/// than once.
public protocol TransportTask: AnyObject, Sendable {
    /// Whether any byte of the request may have been sent; true by default, for transports that
    /// cannot tell.
    ///
    /// If it is false after `cancel`, it stays false.
    var mayHaveSent: Bool { get }
    /// Ends the attempt: its socket is closed promptly and nothing more is sent.
    func cancel()
    /// Stops reading from the peer until `resume`; bytes already read may still arrive.
    func pause()
    /// Resumes reading.
    func resume()
}

extension TransportTask {
    /// True.
    public var mayHaveSent: Bool { true }
}

/// Receives the events of one attempt.
public protocol TransportSink: AnyObject, Sendable {
    /// Upload progress: `bodyBytes` of the request body have been handed to the transport.
    /// Optional.
    ///
    /// `total` is nil when it is unknown. A transport without progress never calls it.
    func didSend(_ bodyBytes: Int64, of total: Int64?)
    /// The final head arrived; informational heads (1xx) are not delivered.
    func didReceive(_ head: ResponseHead)
    /// Decoded body bytes arrived.
    func didReceive(_ bytes: Data)
    /// The response is complete.
    func didEnd(_ report: TransportReport)
    /// The attempt ended without a complete response.
    func didFail(_ failure: TransportFailure)
}

extension TransportSink {
    /// Does nothing.
    public func didSend(_ bodyBytes: Int64, of total: Int64?) {}
}
