// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CLoopback
import Foundation
import Glibc

/// A server in C that answers every GET with the same bytes, so that it is not the limit.
///
/// It runs on one thread of this process until the process ends.
final class ReadyServer {
    /// The ports, which serve the same.
    let ports: [UInt16]

    init(bodySize: Int, portCount: Int) throws {
        let bound = try (0..<portCount).map { _ in try LoopbackPort.bind() }
        ports = bound.map(\.port)
        let sockets = bound.map(\.socket)
        for socket in sockets where listen(socket, 1_024) != 0 {
            throw Complaint("no port listens")
        }
        let response =
            "HTTP/1.1 200 OK\r\nServer: ready\r\nContent-Type: text/plain\r\n"
            + "Content-Length: \(bodySize)\r\nConnection: keep-alive\r\n\r\n"
            + String(repeating: "x", count: bodySize)
        Thread.detachNewThread {
            loopback_serve(sockets, Int32(sockets.count), response, response.utf8.count)
        }
    }
}
