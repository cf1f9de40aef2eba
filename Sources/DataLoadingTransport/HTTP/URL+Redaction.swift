// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension URL {
    /// The URL for a log: without user information, query, fragment and default port.
    ///
    /// "?…" represents a query. What is no http or https URL is "(invalid URL)".
    public var redactedText: String {
        (try? RequestTarget(self)).redactedText
    }
}

extension RequestTarget? {
    /// The URL of a target for a log; nil means what is no http or https URL.
    package var redactedText: String {
        guard let text = self?.urlText else { return "(invalid URL)" }
        guard let query = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return text }
        return text[...query] + "…"
    }
}
