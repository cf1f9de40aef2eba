// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The tunnel through a proxy to an https server (RFC 9110 section 9.3.6).
///
/// The proxy's responses to CONNECT are read by the rules and within the limits of any response, and
/// apart from those of the server. libcurl itself keeps their fields in memory without a limit
/// before 8.3.0, so that its option to suppress them would not do.
final class Tunnel {
    private var response: ResponseGuard
    /// Whether the proxy has opened it for this attempt.
    private(set) var isOpen = false
    /// Whether the proxy has answered 407.
    private(set) var isRefused = false

    init(headLimit: Int) {
        response = ResponseGuard(byteLimit: headLimit, isTunnel: true)
    }

    /// The bytes of the proxy's heads.
    var bytes: Int { response.bytes }

    /// Receives a line; returns the head of a 407, and throws other refusals.
    func receive(_ line: UnsafeRawBufferPointer) throws(DataLoaderError) -> ResponseHead? {
        guard !isOpen else { throw .framing(reason: "a line after the head of the tunnel") }
        guard case .final(var head) = try response.receive(line) else { return nil }
        if head.status.isSuccess {
            isOpen = true
            return nil
        }
        guard head.status == .proxyAuthenticationRequired else {
            throw .proxy(.status(head.status))
        }
        isRefused = true
        head.refusesTunnel = true
        return head
    }
}
