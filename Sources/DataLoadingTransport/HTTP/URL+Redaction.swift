// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension URL {
    /// The URL for a log: without user information, query, fragment and default port.
    ///
    /// "?…" stands for a query. What is no http or https URL is "(invalid URL)".
    public var redactedText: String {
        guard let target = try? RequestTarget(self) else { return "(invalid URL)" }
        let text = target.urlText
        guard let query = text.firstIndex(of: "?") else { return text }
        return text[...query] + "…"
    }
}
