// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CBareCurl

/// The baseline: libcurl's multi interface on epoll, in C.
final class BareCurlClient: Client {
    private nonisolated(unsafe) let client: OpaquePointer

    init?(_ workload: Workload) {
        let field = Workload.field
        guard
            let client = bare_client_make(
                workload.url, "\(field.name): \(field.value)", Int32(workload.concurrency))
        else { return nil }
        self.client = client
    }

    deinit {
        bare_client_free(client)
    }

    func run(_ requests: Int) async -> Int {
        bare_client_run(client, requests)
    }
}
