// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Where a text stops being JSON, which `JSONDecoder` does not say on Linux.
struct JSONPlace: CustomStringConvertible {
    let line: Int
    let column: Int

    /// Returns nil for a text that is JSON.
    init?(of text: Data) {
        do {
            _ = try JSONSerialization.jsonObject(with: text, options: .fragmentsAllowed)
            return nil
        } catch {
            let words = (error as NSError).userInfo["NSDebugDescription"] as? String
            // Without a number, the end of the text was not expected.
            let number = words?.firstMatch(of: /character ([0-9]+)/).flatMap { Int($0.output.1) }
            let before = text.prefix(number ?? text.count)
            line = 1 + before.count { $0 == UInt8(ascii: "\n") }
            let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 }
            column = 1 + before[(lineStart ?? before.startIndex)...].count
        }
    }

    var description: String { "line \(line), column \(column)" }
}
