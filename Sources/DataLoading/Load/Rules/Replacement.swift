// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension LoadFacts {
    /// Whether another attempt is made in place of one that the server did not process, or may
    /// process twice.
    ///
    /// The server may have closed a reused connection already. That shows nothing about the state
    /// of the server, and another attempt is no retry: it costs no token, and a load without
    /// retries has it too. It takes its own rate slot, and uses a fresh connection, which cannot be
    /// stale: one in a load is enough. The same applies when the server requires HTTP/1.1 for a
    /// request, which the next attempt then uses. The server may have processed the first attempt
    /// in both cases, so only a request that may be sent twice is sent again. That condition
    /// does not apply when the server has said that it did nothing.
    func mayReplace(_ failure: TransportFailure) -> Bool {
        metrics.replacedConnections == 0 && !needsNewBody
            && (failure.isRefusal
                || (failure.isStale || failure.isForHTTP1) && base.mayBeSentTwice)
    }
}

extension TransportFailure {
    /// Whether the server requires HTTP/1.1, which the transport has recorded.
    fileprivate var isForHTTP1: Bool { sent == .written && error == .http11Required }

    /// Whether a connection ended without a byte of response, and the attempt had not opened it or
    /// had shared it.
    fileprivate var isStale: Bool {
        guard sent == .written, report.headBytesReceived == 0,
            report.reusedConnection || report.sharedConnection
        else { return false }
        return error == .connectionReset || error == .noResponse
    }

    /// Whether the server has said that it did not process the request.
    fileprivate var isRefusal: Bool {
        guard sent == .nothingWritten, case .http2 = error.kind else { return false }
        return true
    }
}
