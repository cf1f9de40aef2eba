// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// A line of an event stream.
enum EventField: Hashable, Sendable {
    /// An empty line, which ends an event.
    case end
    case data([UInt8])
    case event(String)
    case id(String)
    case retry(Duration)
    /// A comment, an unknown field, an ID with a NUL, or a time that is not of digits.
    case ignored

    init(_ line: UnsafeRawBufferPointer) {
        guard !line.isEmpty else {
            self = .end
            return
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        self =
            switch String(decoding: line[..<colon], as: UTF8.self) {
            case "data": .data(Array(value))
            case "event": .event(String(decoding: value, as: UTF8.self))
            case "id" where !value.contains(0): .id(String(decoding: value, as: UTF8.self))
            case "retry": Self.milliseconds(value).map { .retry($0) } ?? .ignored
            default: .ignored
            }
    }

    /// The time of a value that consists of digits; a longer one than `Int64` holds saturates.
    private static func milliseconds(_ value: Slice<UnsafeRawBufferPointer>) -> Duration? {
        guard !value.isEmpty, value.allSatisfy(\.isDigit) else { return nil }
        return .milliseconds(Int64(String(decoding: value, as: UTF8.self)) ?? .max)
    }
}
