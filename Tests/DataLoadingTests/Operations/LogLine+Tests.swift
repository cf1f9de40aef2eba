// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import Foundation

extension LogLine {
    /// The line of a load that ended on 1 January 2026, without its line feed.
    static func text(
        _ format: AccessLog.Format, _ response: DataLoaderResponse, down: Int64 = 0, up: Int64 = 0,
        tracer: Tracer = Tracer()
    ) -> String {
        let time = LogTime(Date(timeIntervalSince1970: 1_767_225_600.25))
        let bytes = FixedBytes.array(capacity: maxLength) { bytes in
            writeStart(format, time, to: &bytes)
            writeRest(
                response, bytesDownloaded: down, bytesUploaded: up,
                trace: tracer.trace(of: response), at: time, format, to: &bytes)
        }
        return String(decoding: bytes.dropLast(), as: UTF8.self)
    }
}

extension LineRing {
    mutating func append(_ line: [UInt8]) -> Bool { line.withUnsafeBufferPointer { append($0) } }
}

extension LogWriterState {
    mutating func append(_ line: [UInt8]) -> Bool { line.withUnsafeBufferPointer { append($0) } }
}

/// A text of characters that readers of logs stumble over.
func hostileText(using generator: inout some RandomNumberGenerator) -> String {
    let pieces = [
        "a", "\"", "\\", "=", " ", "\n", "\r", "\0", "\u{1B}[31m", "\u{202E}", "\u{2028}", "\u{85}",
        "\u{301}", "é", "🦊", "{", "}", ",", ":", "\u{7F}", "\t", "\u{FEFF}", "\u{10FFFF}", "'",
    ]
    let count = Int.random(in: 0...24, using: &generator)
    return (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
}

/// A text as a log shows it.
func shown(_ text: String) -> String {
    let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: "?"
        default: scalar
        }
    }
    return String(String.UnicodeScalarView(scalars))
}
