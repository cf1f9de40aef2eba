// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// The page of the dashboard: one document without anything from elsewhere, and without data.
enum DashboardPage {
    private static let style = squeezed(compact(DashboardStyle.text))
    private static let script = compact(DashboardScript.text)

    /// The document, in UTF-8.
    static let bytes: [UInt8] = Array(
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="no-referrer">
        <title>DataLoading</title>
        <style>\(style)</style>
        </head>
        <body>
        \(compact(DashboardMarkup.text))
        <script>\(script)</script>
        </body>
        </html>

        """.utf8)

    /// What a browser may do with the document: run this script, use this style, and ask the server
    /// that it came from.
    static let contentSecurityPolicy = [
        "default-src 'none'",
        "script-src 'sha256-\(hash(script))'",
        "style-src 'sha256-\(hash(style))'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ].joined(separator: "; ")

    /// The lines without what is there for who reads the source: indents and comments.
    private static func compact(_ text: String) -> String {
        text.split(separator: "\n").map { $0.drop { $0 == " " } }
            .filter { !$0.hasPrefix("// ") }.joined(separator: "\n")
    }

    /// A style without spaces beside its punctuation, of which a third of it is made.
    private static func squeezed(_ style: String) -> String {
        let spaced = [": ", "; ", ", ", " {", "{ ", " }"]
        return spaced.reduce(style) { style, mark in
            style.replacingOccurrences(of: mark, with: mark.filter { $0 != " " })
        }
        .replacingOccurrences(of: "\n", with: "")
    }

    private static func hash(_ text: String) -> String {
        Data(SHA256.hash(text.utf8)).base64EncodedString()
    }
}
