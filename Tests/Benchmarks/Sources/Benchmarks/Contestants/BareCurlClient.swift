// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CBareCurl
import Foundation

/// The baseline: libcurl's multi interface on epoll, in C.
final class BareCurlClient: Client {
    private nonisolated(unsafe) let client: OpaquePointer

    /// Makes the client; `isTuned` leaves out the work that one plain URL does not need.
    init?(_ workload: Workload, isTuned: Bool = false) {
        var settings = bare_settings()
        settings.concurrency = Int32(workload.concurrency)
        settings.is_tuned = isTuned ? 1 : 0
        settings.is_http2 = workload.security?.version == .http2 ? 1 : 0
        let client = Self.make(&settings, workload.security?.authorities)
        guard let client else { return nil }
        self.client = client
        let one = MixedRequest(method: "GET", url: workload.url, fields: [], body: nil)
        for request in workload.mix ?? [one] {
            let pairs = [[Workload.field.name, Workload.field.value]] + request.fields
            let lines = pairs.map { $0.joined(separator: ": ") }.joined(separator: "\n")
            bare_client_add(client, request.method, request.url, lines, request.body)
        }
    }

    deinit {
        bare_client_free(client)
    }

    func hold(_ idle: Workload.Idle) {
        bare_client_hold(client, idle.url, Int32(idle.count))
    }

    func run(_ requests: Int) async -> Int {
        bare_client_run(client, requests)
    }

    private static func make(
        _ settings: inout bare_settings, _ authorities: String?
    ) -> OpaquePointer? {
        guard let authorities else { return bare_client_make(&settings) }
        return authorities.withCString { path in
            settings.authorities = path
            return bare_client_make(&settings)
        }
    }
}
