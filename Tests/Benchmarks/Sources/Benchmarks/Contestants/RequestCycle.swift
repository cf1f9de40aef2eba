// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Synchronization

/// The requests of a client, which it performs in turn.
final class RequestCycle: Sendable {
    /// The first request.
    let first: DataLoaderRequest
    /// A URL of each origin.
    let origins: [URL]
    /// The hosts that resolve to an address of this machine, with that address.
    let addresses: [String: String]
    private let requests: [DataLoaderRequest]
    private let taken = Atomic(0)

    init?(_ workload: Workload) {
        // The URL has a host that only the resolver knows.
        guard var parts = URLComponents(string: workload.url), let address = parts.host else {
            return nil
        }
        let host = "origin.test"
        parts.host = host
        guard let url = parts.url else { return nil }
        let sources = (0..<(workload.sources ?? 1)).map { $0 == 0 ? "benchmark" : "feature-\($0)" }
        let same = sources.map { DataLoaderRequest(url: url, sourceIdentifier: $0) }
        var addresses = [host: address]
        requests = workload.mix?.compactMap(Self.request) ?? same
        var origins: [String: URL] = [:]
        for request in requests {
            let named = request.url.host ?? host
            addresses[named] = address
            origins["\(named):\(request.url.port ?? 0)"] = request.url
        }
        self.origins = Array(origins.values)
        self.addresses = addresses
        first = requests.first ?? same[0]
    }

    /// The next request.
    func next() -> DataLoaderRequest {
        guard requests.count > 1 else { return first }
        return requests[taken.add(1, ordering: .relaxed).oldValue % requests.count]
    }

    private static func request(_ mixed: MixedRequest) -> DataLoaderRequest? {
        guard let url = URL(string: mixed.url) else { return nil }
        var request = DataLoaderRequest(url: url, sourceIdentifier: "benchmark")
        request.method = HTTPMethod(rawValue: mixed.method)
        for field in mixed.fields where field.count == 2 {
            request.headers.add(field[1], for: field[0])
        }
        request.body = mixed.body.map { .data(Data($0.utf8)) }
        return request
    }
}
