// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// A frame of HTTP/2 (RFC 9113 section 4.1).
    struct HTTP2Frame: Sendable {
        enum Kind: UInt8, Sendable {
            case data, headers, priority, reset, settings, promise, ping, goAway, window
            case continuation
        }

        static let endStream: UInt8 = 1
        static let endHeaders: UInt8 = 4
        static let acknowledgement: UInt8 = 1

        /// Nil for an unknown type.
        var kind: Kind?
        var flags: UInt8 = 0
        var stream: UInt32 = 0
        var payload: [UInt8] = []

        /// The encoded frame.
        var bytes: [UInt8] {
            let length = payload.count
            return [
                UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8),
                UInt8(truncatingIfNeeded: length), kind?.rawValue ?? 0xFF, flags,
            ] + Self.bytes(stream) + payload
        }

        static func bytes(_ number: UInt32) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        }

        /// A head with status 200 and an optional Content-Length.
        static func head(_ stream: UInt32, length: Int? = nil) -> HTTP2Frame {
            // ":status: 200" as an indexed field; "content-length" with an indexed name.
            let value = length.map { Array("\($0)".utf8) }
            let field = value.map { [0x0F, 0x0D, UInt8($0.count)] + $0 } ?? []
            return HTTP2Frame(
                kind: .headers, flags: endHeaders, stream: stream, payload: [0x88] + field)
        }

        static func data(_ stream: UInt32, _ text: String, isLast: Bool) -> HTTP2Frame {
            HTTP2Frame(
                kind: .data, flags: isLast ? endStream : 0, stream: stream,
                payload: Array(text.utf8))
        }

        static func reset(_ stream: UInt32, _ code: UInt32) -> HTTP2Frame {
            HTTP2Frame(kind: .reset, stream: stream, payload: bytes(code))
        }

        /// A GOAWAY: no stream after `last` was processed.
        static func goAway(last: UInt32) -> HTTP2Frame {
            HTTP2Frame(kind: .goAway, payload: bytes(last) + bytes(0))
        }

        /// Opens the window of a stream, or of the connection with 0.
        static func window(_ stream: UInt32, _ more: UInt32) -> HTTP2Frame {
            HTTP2Frame(kind: .window, stream: stream, payload: bytes(more))
        }

        static let settings = HTTP2Frame(kind: .settings)
        static let ping = HTTP2Frame(kind: .ping, payload: Array(repeating: 7, count: 8))
    }
#endif
