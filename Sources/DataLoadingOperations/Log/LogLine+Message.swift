// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension LogLine {
    /// A line for an operator about the daemon itself, not about a load.
    static func error(_ text: String, at date: Date, _ format: AccessLog.Format) -> [UInt8] {
        make(format, time: LogTime(date)) { line in
            line.add("level", "error", maxBytes: 16)
            line.add("message", text, maxBytes: 2_048)
        }
    }
}
