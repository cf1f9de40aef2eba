// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The bytes of one line of a log: keys and values in the order in which they are added.
///
/// Written byte by byte, because a `JSONEncoder` takes longer than everything else about a load.
struct LogLine {
    /// The maximum length of a line, `PIPE_BUF` of Linux: longer writes to a pipe may be mixed with
    /// those of other processes.
    static let maxLength = 4_096

    private let format: AccessLog.Format
    private var bytes: FixedBytes

    /// Makes a line of a time and what `body` adds, ended by a line feed.
    static func make(
        _ format: AccessLog.Format, time: LogTime, _ body: (inout LogLine) -> Void
    ) -> [UInt8] {
        FixedBytes.array(capacity: maxLength) { bytes in write(format, time, to: &bytes, body) }
    }

    /// Writes a line of a time and what `body` adds, ended by a line feed.
    static func write(
        _ format: AccessLog.Format, _ time: LogTime, to bytes: inout FixedBytes,
        _ body: (inout LogLine) -> Void
    ) {
        var line = LogLine(format: format, bytes: bytes)
        // For its end, so that the next line begins anew whatever this one has.
        line.bytes.keep(free: 2)
        line.begin(time)
        body(&line)
        line.bytes.keep(free: 0)
        if format == .json { line.bytes.append(UInt8(ascii: "}")) }
        line.bytes.append(UInt8(ascii: "\n"))
        bytes = line.bytes
    }

    private mutating func begin(_ time: LogTime) {
        if format == .json { bytes.append(UInt8(ascii: "{")) }
        beginValue("time")
        // A time has no character that either format would escape.
        if format == .json { bytes.append(UInt8(ascii: "\"")) }
        time.append(to: &bytes)
        if format == .json { bytes.append(UInt8(ascii: "\"")) }
    }

    /// Adds a text that may contain anything, in at most `maxBytes`; nil adds nothing.
    mutating func add(_ key: StaticString, _ text: String?, maxBytes: Int) {
        guard let text else { return }
        beginValue(key)
        let printable = PrintableText(text, maxBytes: maxBytes)
        let isQuoted = format == .json || printable.needsQuotes
        if isQuoted { bytes.append(UInt8(ascii: "\"")) }
        printable.append(to: &bytes)
        if isQuoted { bytes.append(UInt8(ascii: "\"")) }
    }

    /// Adds a URL as `redactedText` shows it, without its query, in at most `maxBytes`.
    mutating func add(_ key: StaticString, _ target: RequestTarget?, maxBytes: Int) {
        if let target, addParts(key, of: target, maxBytes: maxBytes) { return }
        add(key, target.redactedText, maxBytes: maxBytes)
    }

    /// Adds a URL part by part, because to make its text would be a quarter of a line's cost; false for
    /// one that is long or has bytes to escape.
    private mutating func addParts(
        _ key: StaticString, of target: RequestTarget, maxBytes: Int
    ) -> Bool {
        let origin = target.origin
        // The longest scheme, port and mark of a query have 18 bytes.
        let length = origin.host.utf8.count + target.pathAndQuery.utf8.count
        guard length <= maxBytes - 18 else { return false }
        let isAdded = target.pathAndQuery.utf8.withContiguousStorageIfAvailable { path in
            let end = path.firstIndex(of: UInt8(ascii: "?")) ?? path.count
            let shown = UnsafeBufferPointer(rebasing: path[..<end])
            guard shown.allSatisfy(PrintableText.isPlain) else { return false }
            // As for any text: logfmt needs quotes around "=" and "…".
            let hasQuery = end < path.count
            let isQuoted = format == .json || hasQuery || shown.contains(UInt8(ascii: "="))
            beginValue(key)
            if isQuoted { bytes.append(UInt8(ascii: "\"")) }
            bytes.append(contentsOf: origin.isSecure ? "https://" : "http://")
            for byte in origin.host.utf8 { bytes.append(byte) }
            if origin.port != (origin.isSecure ? 443 : 80) {
                bytes.append(UInt8(ascii: ":"))
                bytes.appendDecimal(Int64(origin.port))
            }
            bytes.append(contentsOf: shown)
            if hasQuery { bytes.append(contentsOf: "?…") }
            if isQuoted { bytes.append(UInt8(ascii: "\"")) }
            return true
        }
        return isAdded ?? false
    }

    /// Adds a whole number; nil adds nothing.
    mutating func add(_ key: StaticString, _ number: Int64?) {
        guard let number else { return }
        beginValue(key)
        bytes.appendDecimal(number)
    }

    /// Adds a duration in seconds, rounded down to a millisecond.
    mutating func add(_ key: StaticString, _ duration: Duration) {
        beginValue(key)
        let milliseconds = max(0, duration.wholeNanoseconds) / 1_000_000
        bytes.appendDecimal(milliseconds / 1_000)
        bytes.append(UInt8(ascii: "."))
        bytes.appendDecimal(milliseconds % 1_000, digits: 3)
    }

    /// Adds a truth value.
    mutating func add(_ key: StaticString, _ value: Bool) {
        beginValue(key)
        bytes.append(contentsOf: value ? "true" : "false")
    }

    private mutating func beginValue(_ key: StaticString) {
        switch format {
        case .json:
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "\""))
            bytes.append(contentsOf: key)
            bytes.append(UInt8(ascii: "\""))
            bytes.append(UInt8(ascii: ":"))
        case .logfmt:
            if bytes.count > 0 { bytes.append(UInt8(ascii: " ")) }
            bytes.append(contentsOf: key)
            bytes.append(UInt8(ascii: "="))
        }
    }
}
