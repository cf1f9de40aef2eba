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
        FixedBytes.array(capacity: maxLength) { bytes in
            writeStart(format, time, to: &bytes)
            writeRest(format, time, to: &bytes, body)
        }
    }

    /// Writes the start of a line: its time, to the second.
    static func writeStart(
        _ format: AccessLog.Format, _ time: LogTime, to bytes: inout FixedBytes
    ) {
        bytes.append(contentsOf: format == .json ? "{\"time\":\"" : "time=")
        time.appendSecond(to: &bytes)
    }

    /// Writes the rest of a line: the fraction of its time, what `body` adds, and a line feed.
    static func writeRest(
        _ format: AccessLog.Format, _ time: LogTime, to bytes: inout FixedBytes,
        _ body: (inout LogLine) -> Void
    ) {
        var line = LogLine(format: format, bytes: bytes)
        // For its end, so that the next line begins anew whatever this one has.
        line.bytes.keep(free: 2)
        time.appendFraction(to: &line.bytes)
        if format == .json { line.bytes.append(UInt8(ascii: "\"")) }
        body(&line)
        line.bytes.keep(free: 0)
        if format == .json { line.bytes.append(UInt8(ascii: "}")) }
        line.bytes.append(UInt8(ascii: "\n"))
        bytes = line.bytes
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
            var end = 0
            var hasEquals = false
            while end < path.count, path[end] != UInt8(ascii: "?") {
                guard PrintableText.isPlain(path[end]) else { return false }
                if path[end] == UInt8(ascii: "=") { hasEquals = true }
                end += 1
            }
            let hasQuery = end < path.count
            // As for any text: logfmt needs quotes around "=" and "…".
            let isQuoted = format == .json || hasQuery || hasEquals
            beginValue(key)
            if isQuoted { bytes.append(UInt8(ascii: "\"")) }
            bytes.append(contentsOf: origin.isSecure ? "https://" : "http://")
            for byte in origin.host.utf8 { bytes.append(byte) }
            if origin.port != (origin.isSecure ? 443 : 80) {
                bytes.append(UInt8(ascii: ":"))
                bytes.appendDecimal(Int64(origin.port))
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: path[..<end]))
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

    /// Adds a duration in seconds, rounded down to a millisecond; nil adds nothing.
    mutating func add(_ key: StaticString, _ duration: Duration?) {
        if let duration { add(key, duration) }
    }

    /// Adds a duration in seconds, rounded down to a millisecond.
    mutating func add(_ key: StaticString, _ duration: Duration) {
        beginValue(key)
        let milliseconds = max(0, duration.wholeNanoseconds) / 1_000_000
        // Most waits.
        if milliseconds == 0 { return bytes.append(contentsOf: "0.000") }
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
        let length = key.utf8CodeUnitCount
        switch format {
        case .json:
            bytes.write(length + 4) { text in
                text[0] = UInt8(ascii: ",")
                text[1] = UInt8(ascii: "\"")
                (text + 2).update(from: key.utf8Start, count: length)
                text[length + 2] = UInt8(ascii: "\"")
                text[length + 3] = UInt8(ascii: ":")
            }
        case .logfmt:
            bytes.write(length + 2) { text in
                text[0] = UInt8(ascii: " ")
                (text + 1).update(from: key.utf8Start, count: length)
                text[length + 1] = UInt8(ascii: "=")
            }
        }
    }
}
