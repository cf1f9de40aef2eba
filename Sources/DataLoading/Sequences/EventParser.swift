// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// Parses an event stream, as section 9.2.6 of the HTML standard says.
///
/// The last event ID and the reconnection time outlive a connection. In the text of the standard an
/// event without an ID would clear the last ID of an earlier connection; browsers keep it.
struct EventParser: Sendable {
    /// An event, or one of its lines, is longer than the limit.
    struct TooLong: Error {}

    /// The capacity that is kept for data, so that one long event does not stay in memory.
    private static let maxKept = 16_384

    private let maxSize: Int
    private var lines: LineSplitter
    private var data: [UInt8] = []
    private var type = ""
    private var id: String
    private var retry: Duration?
    /// The ID of the last event that was complete, also of one without data.
    private(set) var lastEventID: String
    /// The last reconnection time that the stream gave.
    private(set) var reconnectionTime: Duration?

    init(maxSize: Int, lastEventID: String = "") {
        self.maxSize = maxSize
        self.lastEventID = lastEventID
        id = lastEventID
        lines = Self.lines(maxSize)
    }

    private static func lines(_ maxSize: Int) -> LineSplitter {
        LineSplitter(ends: .any, maxLength: maxSize)
    }

    /// Adds a piece of the stream; called when `next` has returned nil.
    mutating func add(_ piece: Data) { lines.add(piece) }

    /// Drops an event that is not complete, because a new connection begins.
    mutating func reset() {
        lines = Self.lines(maxSize)
        id = lastEventID
        clear()
    }

    /// Returns the next event; nil when a piece is needed.
    mutating func next() throws -> ServerSentEvent? {
        do {
            while let field = try lines.next({ EventField($0) }) {
                switch field {
                case .end: if let event = dispatch() { return event }
                case .data(let value): try append(value)
                case .event(let value): type = value
                case .id(let value): id = value
                case .retry(let time):
                    retry = time
                    reconnectionTime = time
                case .ignored: break
                }
            }
            return nil
        } catch is LineSplitter.TooLong {
            throw TooLong()
        }
    }

    private mutating func append(_ value: [UInt8]) throws {
        guard value.count <= maxSize - data.count else { throw TooLong() }
        data += value
        data.append(UInt8(ascii: "\n"))
    }

    /// Ends an event; nil when it has no data.
    private mutating func dispatch() -> ServerSentEvent? {
        lastEventID = id
        defer { clear() }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            id: id, event: type.isEmpty ? "message" : type,
            data: String(decoding: data.dropLast(), as: UTF8.self), retry: retry)
    }

    private mutating func clear() {
        data.removeAll(keepingCapacity: data.capacity <= Self.maxKept)
        type = ""
        retry = nil
    }
}
