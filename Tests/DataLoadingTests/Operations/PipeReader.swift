// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The reading end of a named pipe, which reads only when the test wants it to.
final class PipeReader: Sendable {
    let path: String
    private let descriptor: Int32

    init?(in directory: TemporaryDirectory) {
        path = directory.url("pipe").path
        guard mkfifo(path, 0o600) == 0 else { return nil }
        // Without the flag it would wait for a writer.
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        _ = close(descriptor)
    }

    /// Reads until no writer is left, without holding up other tasks.
    func readToEnd() async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.readAll()) }
        }
    }

    private func readAll() -> String {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count > 0 {
                bytes += piece[..<count]
            } else if count < 0, errno == EAGAIN || errno == EINTR {
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&entry, 1, -1)
            } else {
                return String(decoding: bytes, as: UTF8.self)
            }
        }
    }
}
