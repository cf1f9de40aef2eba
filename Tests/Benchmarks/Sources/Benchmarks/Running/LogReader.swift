// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Counts the lines that come through a named pipe.
final class LogReader: Sendable {
    let path: String
    private let descriptor: Int32
    private let lines = Atomic(0)
    private let isPaused = Atomic(false)
    private let end = DispatchSemaphore(value: 0)

    init() throws {
        path = NSTemporaryDirectory() + "benchmark-\(getpid())"
        guard mkfifo(path, 0o600) == 0 else { throw Complaint("no pipe can be made") }
        // For writing too, so that the opening does not wait for a writer.
        descriptor = open(path, O_RDWR)
        Thread.detachNewThread { self.read() }
    }

    private func read() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            while isPaused.load(ordering: .acquiring) { usleep(10_000) }
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { break }
            let bytes = buffer[..<count]
            lines.add(bytes.count { $0 == UInt8(ascii: "\n") }, ordering: .relaxed)
            // What ends the reading: it is no line of the log.
            if bytes.last == 0 { break }
        }
        end.signal()
    }

    func pause() { isPaused.store(true, ordering: .releasing) }

    func goOn() { isPaused.store(false, ordering: .releasing) }

    /// Ends the reading when all was read, and returns the number of lines.
    func close() -> Int {
        var mark: UInt8 = 0
        write(descriptor, &mark, 1)
        end.wait()
        Glibc.close(descriptor)
        unlink(path)
        return lines.load(ordering: .relaxed)
    }
}
