// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Foundation

/// A URL that is kept until somebody looks at it without its query.
///
/// The text is made then, as most are never looked at; that of a long URL is made and cut at once,
/// because a server may have named it, and hundreds are kept.
enum ShownURL: Sendable {
    case url(URL)
    case target(RequestTarget?)
    case text(Origin?, String)

    /// The maximum length, in bytes of what is kept and in characters of what is shown.
    static let maxLength = 2_048

    init(_ url: URL) {
        let isShort = url.absoluteString.utf8.count <= Self.maxLength
        self = isShort ? .url(url) : Self.cut(try? RequestTarget(url))
    }

    /// Takes a URL that was parsed already; nil for what is no URL of a server.
    init(_ target: RequestTarget?) {
        let isShort = target?.pathAndQuery.utf8.count ?? 0 <= Self.maxLength
        self = isShort ? .target(target) : Self.cut(target)
    }

    /// Its server, and the text that may be shown.
    var shown: (origin: Origin?, text: String) {
        switch self {
        case .url(let url): Self.target(try? RequestTarget(url)).shown
        case .target(let target): (target?.origin, target.redactedText)
        case .text(let origin, let text): (origin, text)
        }
    }

    private static func cut(_ target: RequestTarget?) -> ShownURL {
        .text(target?.origin, String(target.redactedText.unicodeScalars.prefix(maxLength)))
    }
}
