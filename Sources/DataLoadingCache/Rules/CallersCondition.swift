// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// Whether the caller already has what is stored (RFC 9111 section 4.3.2).
enum CallersCondition {
    /// Whether the conditions of a request to a fresh stored response are answered by 304.
    static func holds(_ request: HTTPHeaders, for stored: StoredResponse) -> Bool {
        let tags = request.values(for: "If-None-Match")
        // If-None-Match takes precedence over If-Modified-Since (RFC 9110 section 13.1.3).
        guard tags.isEmpty else { return matches(tags, stored.headers) }
        let now = stored.times.received.seconds
        guard let since = request.date(of: "If-Modified-Since", now: now) else { return false }
        let modified =
            stored.headers.date(of: "Last-Modified", now: now)
            ?? stored.headers.date(of: "Date", now: now) ?? now
        return modified <= since
    }

    private static func matches(_ fieldValues: [String], _ stored: HTTPHeaders) -> Bool {
        if fieldValues.contains(where: { $0.trimmingBlanks == "*" }) { return true }
        let tags = stored.values(for: "ETag")
        guard tags.count == 1, let tag = EntityTag(tags[0][...]) else { return false }
        return fieldValues.flatMap(EntityTag.list).contains {
            $0.opaque.hasSameBytes(as: tag.opaque)
        }
    }
}
