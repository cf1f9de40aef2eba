// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// Quirk: a GOAWAY does not keep libcurl from opening a further stream on its connection.
// libcurl then ends that transfer as if the request had been sent.
//
// Seen on: 7.88.1. It is a race: in a single run the tests below passed without `noteStream` on
// 7.88.1, 8.14.1 and 8.23.0.
//
// Upstream: https://github.com/curl/curl/issues/4839 (a multi handle accepts requests after a
// GOAWAY).
//
// Remove when these tests pass, many times in a row, without it on every supported version:
// `SecureConnectionTests`, the test of connections that end after fifty requests;
// `HTTP2RefusalTests`, "POSTs after a GOAWAY are sent on another connection".

extension CurlLoop {
    /// Notes that a peer processes no stream of a connection after a certain one.
    func noteUnprocessed(after last: UInt32, on connection: ConnectionName) {
        if http2Sockets.values.contains(where: { $0.name == connection }) {
            lastStreams[connection] = last
        }
        for transfer in running.values where transfer.state.connection == connection {
            if let key = transfer.state.routing.route {
                routes.mayHaveEnded(connection, key)
            }
            guard let stream = transfer.state.stream, stream > last else { continue }
            transfer.state.isUnprocessed = true
        }
    }

    /// Notes the number of an attempt's stream, and whether it follows the last one that the
    /// peer processes.
    func noteStream(_ stream: UInt32?, of transfer: CurlTransfer) {
        guard let stream else { return }
        transfer.state.stream = stream
        guard let name = transfer.state.connection, let last = lastStreams[name] else {
            return
        }
        if stream > last { transfer.state.isUnprocessed = true }
    }
}
