// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CBareEpoll
import Foundation

/// The least that a GET can cost: `epoll`, `send` and `recv` in C, in one thread.
final class BareEpollClient: Client {
    private nonisolated(unsafe) let client: OpaquePointer

    init?(_ workload: Workload) {
        guard let url = URL(string: workload.url), let host = url.host, let port = url.port,
            let number = UInt16(exactly: port)
        else { return nil }
        let field = Workload.field
        let request =
            "GET \(url.path) HTTP/1.1\r\nHost: \(host):\(port)\r\n\(field.name): \(field.value)"
            + "\r\nAccept: */*\r\n\r\n"
        guard let client = epoll_client_make(number, request, Int32(workload.concurrency)) else {
            return nil
        }
        self.client = client
    }

    deinit {
        epoll_client_free(client)
    }

    func run(_ requests: Int) async -> Int {
        epoll_client_run(client, requests)
    }
}
