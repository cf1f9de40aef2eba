// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CBareCurl

/// libcurl in C, which only counts what it receives.
struct BareCurlTransfers: TransferClient {
    func download(_ url: String, _ pace: Pace?) async throws -> Int {
        guard pace == nil else { throw Complaint("libcurl has no pace here") }
        return try run { client in
            bare_client_add(client, "GET", url, "", nil)
        }
    }

    func upload(_ file: String, of size: Int, to url: String) async throws {
        _ = try run { client in
            bare_client_add(client, "POST", url, "", nil)
            bare_client_upload(client, file, Int64(size))
        }
    }

    private func run(_ prepare: (OpaquePointer) -> Void) throws -> Int {
        var settings = bare_settings()
        settings.concurrency = 1
        guard let client = bare_client_make(&settings) else { throw Complaint("no libcurl") }
        defer { bare_client_free(client) }
        prepare(client)
        guard bare_client_run(client, 1) == 0 else { throw Complaint("a transfer failed") }
        return Int(bare_client_received(client))
    }
}
