// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension Exchange {
    /// Another attempt in place of one that no server has worked on, or that may be worked on twice;
    /// nil when there is none.
    ///
    /// A connection that was kept may have been closed at the other end already. That says nothing of
    /// the server and is no retry: it costs no token, and a load without retries has it too. It is an
    /// attempt like any other otherwise, with its own rate slot, on a connection of its own, which
    /// cannot be stale: once a load is enough. So it is where the server wants HTTP/1.1 for a request,
    /// which the next attempt then uses; of others it may have worked on the first.
    func replacement(for failure: TransportFailure, _ progress: LoadProgress) -> Step? {
        guard progress.metrics.replacedConnections == 0, !progress.needsNewBody,
            failure.isRefusal
                || (failure.isStale || failure.isForHTTP1) && progress.base.mayBeSentTwice
        else { return nil }
        state.withLock { state in
            state.progress.needsFreshConnection = true
            state.progress.metrics.replacedConnections += 1
        }
        return .authorise(from: 0)
    }
}

extension TransportFailure {
    /// Whether the server wants HTTP/1.1, of which the transport has taken note.
    fileprivate var isForHTTP1: Bool { sent == .written && error == .http11Required }

    /// Whether the connection, which the attempt did not open or did not have alone, ended without a
    /// byte of response.
    fileprivate var isStale: Bool {
        guard sent == .written, report.headBytesReceived == 0,
            report.reusedConnection || report.sharedConnection
        else { return false }
        return error == .connectionReset || error == .noResponse
    }

    /// Whether the server has said that it did nothing with the request.
    fileprivate var isRefusal: Bool {
        guard sent == .nothingWritten, case .http2 = error else { return false }
        return true
    }
}
