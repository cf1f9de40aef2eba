// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import Foundation

extension URL {
    /// The URL as a log may show it: without user information, query and fragment.
    package var redactedText: String {
        guard let target = try? RequestTarget(self) else { return "(invalid URL)" }
        let path = target.pathAndQuery.prefix { $0 != "?" }
        return "\(target.origin)\(path)" + (path.count < target.pathAndQuery.count ? "?…" : "")
    }
}
