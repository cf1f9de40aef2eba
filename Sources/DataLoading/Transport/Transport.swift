// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Anything that turns one attempt into one response: the wire, a cache, a script, another device.
///
/// A transport never redirects, retries, keeps cookies, authorises or limits rates: its caller does.
/// A transport that reaches a network refuses an attempt whose `cachePolicy` is `.cacheOnly` with
/// `.notCached`. Transports that wrap another pass `reset` and `shutDown` on exactly once.
public protocol Transport: Sendable {
    /// Starts one attempt, without waiting for anything.
    ///
    /// The sink hears, in order and from one thread at a time: informational heads, one final head,
    /// body bytes, then exactly one end or one failure; also after `cancel`, when the failure is
    /// `.cancelled` unless the end was already on its way. It is never called inline in `start`.
    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask

    /// Forgets what it learned: cached responses, idle connections.
    func reset() async

    /// Ends every attempt and gives back threads and sockets; later attempts fail.
    func shutDown() async
}

/// A handle on a running attempt; every method may be called from any thread, at any time, twice.
public protocol TransportTask: AnyObject, Sendable {
    /// Whether any of the request may have been sent; default true, for who cannot tell.
    ///
    /// What is false after `cancel` stays false.
    var mayHaveSent: Bool { get }
    /// Ends the attempt: its socket is closed promptly and nothing more is sent.
    func cancel()
    /// Stops reading from the peer until `resume`; bytes already read may still arrive.
    func pause()
    /// Goes on reading.
    func resume()
}

extension TransportTask {
    /// True.
    public var mayHaveSent: Bool { true }
}

/// The receiver of one attempt's events.
public protocol TransportSink: AnyObject, Sendable {
    /// So many bytes of the request's body were taken over in this attempt; for who wants to know.
    ///
    /// `total` is nil when it is not known. A transport that cannot tell never calls it.
    func didSend(_ bodyBytes: Int64, of total: Int64?)
    /// A 1xx head arrived; any number may precede the final one.
    func didReceiveInformational(_ head: ResponseHead)
    /// The final head arrived.
    func didReceive(_ head: ResponseHead)
    /// Decoded body bytes arrived.
    func didReceive(_ bytes: Data)
    /// The response is whole.
    func didEnd(_ end: TransportEnd)
    /// The attempt ended without a whole response.
    func didFail(_ failure: TransportFailure)
}

extension TransportSink {
    /// Does nothing.
    public func didSend(_ bodyBytes: Int64, of total: Int64?) {}
}
