// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A port whose connections are established by the kernel and never answered.
final class SilentServer {
    let url: String
    private let socket: Int32

    /// Listens; as many connections as `count` are established, however many are accepted.
    init(count: Int) throws {
        let (socket, port) = try LoopbackPort.bind()
        self.socket = socket
        url = "http://127.0.0.1:\(port)/silent"
        guard listen(socket, Int32(count)) == 0 else { throw Complaint("no port listens") }
    }

    deinit {
        close(socket)
    }
}
