// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Duration {
    /// In seconds.
    var seconds: Double { self / .seconds(1) }

    /// Milliseconds or seconds, whichever reads best.
    var text: String {
        seconds < 0.1 ? String(format: "%.1f ms", seconds * 1_000) : text(decimals: 2)
    }

    /// Whole milliseconds, so that the figures of a column can be compared.
    var milliseconds: String {
        String(format: "%.0f ms", seconds * 1_000)
    }

    /// Seconds.
    func text(decimals: Int) -> String {
        String(format: "%.\(decimals)f s", seconds)
    }
}

extension Int64 {
    /// A number of bytes in decimal units.
    var bytes: String {
        switch Double(self) {
        case ..<1_000: "\(self) B"
        case let number where number < 1_000_000: String(format: "%.1f kB", number / 1_000)
        case let number: String(format: "%.1f MB", number / 1_000_000)
        }
    }
}

extension Double {
    /// With one decimal, or none when that is zero.
    var figure: String {
        let text = String(format: "%.1f", self)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
