// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    import Foundation
    import Glibc

    /// A Unix-domain socket that carries frames: four bytes of length, and that many bytes.
    final class FrameSocket: Sendable {
        static let maxFrame = 65_536

        private let descriptor: Int32
        /// Blocks while the other side is slow or silent.
        private let queue = DispatchQueue(label: "frames")

        init(_ descriptor: Int32) {
            self.descriptor = descriptor
        }

        deinit {
            close(descriptor)
        }

        /// Connects; nothing was sent when that fails.
        static func connect(to path: String) throws -> FrameSocket {
            let descriptor = UnixAddress.makeSocket()
            guard descriptor >= 0 else {
                throw TransportFailure(.resources(reason: "no socket"), sent: .nothingWritten)
            }
            let socket = FrameSocket(descriptor)
            let result = UnixAddress(path)?.with { Glibc.connect(descriptor, $0, $1) }
            guard result == 0 else {
                throw TransportFailure(.connectRefused, sent: .nothingWritten)
            }
            return socket
        }

        func send(_ frame: Data) async throws {
            try await onQueue { descriptor in
                var length = UInt32(clamping: frame.count).bigEndian
                try Self.write(withUnsafeBytes(of: &length) { Data($0) } + frame, to: descriptor)
            }
        }

        /// Returns the next frame, however long the other side takes.
        ///
        /// It throws when the other side is gone, or sends a frame that is too long.
        func receive() async throws -> Data {
            try await onQueue { descriptor in
                let length = try Self.read(4, from: descriptor).reduce(0) { $0 << 8 | Int($1) }
                guard length <= Self.maxFrame else {
                    throw DataLoaderError.framing(reason: "a frame of \(length) bytes")
                }
                return try Self.read(length, from: descriptor)
            }
        }

        /// Runs a blocking call; the end of the task ends the socket, and with it the call.
        private func onQueue<Result: Sendable>(
            _ call: @escaping @Sendable (Int32) throws -> Result
        ) async throws -> Result {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    queue.async { [self] in
                        continuation.resume(with: Swift.Result { try call(descriptor) })
                    }
                }
            } onCancel: {
                shutdown(descriptor, Int32(SHUT_RDWR))
            }
        }

        private static func read(_ count: Int, from descriptor: Int32) throws -> Data {
            var buffer = [UInt8](repeating: 0, count: count)
            var filled = 0
            while filled < count {
                let got = buffer.withUnsafeMutableBytes { bytes in
                    recv(descriptor, bytes.baseAddress.map { $0 + filled }, count - filled, 0)
                }
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { throw DataLoaderError.connectionReset }
                filled += got
            }
            return Data(buffer)
        }

        private static func write(_ bytes: Data, to descriptor: Int32) throws {
            var rest = bytes
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if sent < 0, errno == EINTR { continue }
                guard sent > 0 else { throw DataLoaderError.connectionReset }
                rest = rest.dropFirst(sent)
            }
        }
    }

    /// Accepts connections on a Unix-domain socket, and serves at most 16 at once.
    final class FrameListener: Sendable {
        private let descriptor: Int32
        private let places = DispatchSemaphore(value: 16)

        /// Listens at a path, in a directory that only this user may enter.
        init(
            at path: String, serve: @escaping @Sendable (FrameSocket) async throws -> Void
        ) throws {
            descriptor = UnixAddress.makeSocket()
            unlink(path)
            let isBound = UnixAddress(path)?.with { Glibc.bind(descriptor, $0, $1) } == 0
            guard descriptor >= 0, isBound, listen(descriptor, 16) == 0 else {
                if descriptor >= 0 { close(descriptor) }
                throw DataLoaderError.resources(reason: "cannot listen")
            }
            let thread = Thread { [descriptor, places] in
                while true {
                    places.wait()
                    let accepted = accept(descriptor, nil, nil)
                    guard accepted >= 0 else { break }
                    Task {
                        try? await serve(FrameSocket(accepted))
                        places.signal()
                    }
                }
                places.signal()
                close(descriptor)
            }
            thread.start()
        }

        /// Ends the listening; connections that are served continue.
        func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    /// The address of a Unix-domain socket; nil when the path is too long for one.
    struct UnixAddress {
        private var address = sockaddr_un()

        init?(_ path: String) {
            let bytes = Array(path.utf8)
            guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        }

        static func makeSocket() -> Int32 {
            socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        }

        func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
            withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
    }
#endif
