// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// Says once that a request fails, and once that it works again, however often it is performed.
struct TroubleWatch: Sendable {
    /// What each request that fails failed with.
    private var troubles: [String: String] = [:]

    /// Learns from a load; answers when it is news.
    mutating func note(_ response: DataLoaderResponse) -> String? {
        // The description has no query, which may hold secrets.
        let request = response.request.description
        switch response.error {
        case .cancelled:
            return nil
        case nil:
            return troubles.removeValue(forKey: request).map { _ in "\(request) works again" }
        case let error?:
            let isNews = troubles.updateValue(error.kind, forKey: request) != error.kind
            return isNews ? "\(request) fails: \(error.kind)" : nil
        }
    }
}
