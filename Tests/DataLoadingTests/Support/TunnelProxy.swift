// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import DataLoadingSockets
    import DataLoadingSupport
    @testable import DataLoadingTesting
    @testable import DataLoading
    import Foundation
    import Glibc

    /// A proxy that opens tunnels to ports of 127.0.0.1, whatever the host, or answers as a test says.
    final class TunnelProxy: Sendable {
        /// What a client sent before its tunnel.
        struct Request: Hashable, Sendable {
            let line: String
            let fields: [String]

            /// The value of a field; nil when it is not there.
            func value(of name: String) -> String? {
                let prefix = name.lowercased() + ": "
                return fields.first { $0.lowercased().hasPrefix(prefix) }
                    .map { String($0.dropFirst(prefix.count)) }
            }
        }

        enum Answer: Sendable {
            /// These pieces, and then a tunnel.
            case tunnel([String] = ["HTTP/1.1 200 OK\r\n\r\n"])
            /// These pieces, and then the end of the connection.
            case end([String])
            /// These pieces, and then nothing until the client closes.
            case stay([String])
            case reset
        }

        private let requests = EventRecorder<Request>()
        private let answer: @Sendable (Request) -> Answer

        init(_ answer: @escaping @Sendable (Request) -> Answer = { _ in .tunnel() }) {
            self.answer = answer
        }

        /// The requests so far.
        var seen: [Request] { requests.elements }

        var script: LoopbackScript { .converse { try self.serve($0) } }

        private func serve(_ client: any ByteStream) throws {
            guard let request = try Self.readHead(client) else { return }
            requests.record(request)
            switch answer(request) {
            case .tunnel(let pieces):
                for piece in pieces { try Self.write(piece, to: client) }
                try Self.relay(client, to: request)
            case .end(let pieces):
                for piece in pieces { try Self.write(piece, to: client) }
            case .stay(let pieces):
                for piece in pieces { try Self.write(piece, to: client) }
                try client.waitForClient()
            case .reset: client.close(resetting: true)
            }
        }

        private static func readHead(_ client: any ByteStream) throws -> Request? {
            var head: [UInt8] = []
            var byte: UInt8 = 0
            while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                let count = try withUnsafeMutableBytes(of: &byte) { try client.read(into: $0) }
                guard count > 0 else { return nil }
                head.append(byte)
            }
            var lines = String(decoding: head.dropLast(4), as: UTF8.self)
                .components(separatedBy: "\r\n")
            let first = lines.removeFirst()
            return Request(line: first, fields: lines)
        }

        private static func write(_ text: String, to client: any ByteStream) throws {
            try Array(text.utf8).withUnsafeBytes { try client.write($0) }
        }

        /// Passes bytes on in both directions until one of them ends.
        private static func relay(_ client: any ByteStream, to request: Request) throws {
            let authority = request.line.split(separator: " ").dropFirst().first ?? ""
            guard let port = authority.split(separator: ":").last.flatMap({ UInt16($0) }),
                let server = StreamSocket(), server.connect([127, 0, 0, 1], port: port)
            else { return }
            defer { server.close() }
            let upstream = server.descriptor
            // Only the other thread reads from the client, and only this one writes to it.
            let stream = Shared(stream: client)
            let back = try NativeThread {
                var buffer = [UInt8](repeating: 0, count: 16_384)
                while true {
                    let count = recv(upstream, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    let isSent: Void? = try? buffer[..<count].withUnsafeBytes {
                        try stream.stream.write($0)
                    }
                    guard isSent != nil else { break }
                }
                stream.stream.finishWriting()
            }
            defer {
                shutdown(upstream, Int32(SHUT_RDWR))
                back.join()
            }
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = try buffer.withUnsafeMutableBytes { try client.read(into: $0) }
                guard count > 0 else { return }
                var rest = buffer[..<count]
                while !rest.isEmpty {
                    let sent = rest.withUnsafeBytes {
                        send(upstream, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard sent > 0 else { return }
                    rest = rest.dropFirst(sent)
                }
            }
        }

        private struct Shared: @unchecked Sendable {
            let stream: any ByteStream
        }
    }
#endif
