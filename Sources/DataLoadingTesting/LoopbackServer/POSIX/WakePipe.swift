// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

import DataLoading

/// A pipe that carries one byte, which nobody reads: it wakes every thread that polls for it.
final class WakePipe: Sendable {
    /// The end to poll; it is ready from when the pipe is fired.
    let descriptor: Int32
    private let writeEnd: Locked<Int32?>

    init() throws {
        let ends = try PlatformSocket.makePipe()
        descriptor = ends.read
        writeEnd = Locked(ends.write)
    }

    deinit {
        fire()
        SystemCall.release(descriptor)
    }

    /// Whether it was fired.
    var isFired: Bool {
        writeEnd.withLock { $0 == nil }
    }

    /// Wakes everyone, for good.
    func fire() {
        let end = writeEnd.withLock { end in
            defer { end = nil }
            return end
        }
        guard let end else { return }
        // Closing it would do, did not a program that was just started hold a copy for a moment.
        SystemCall.writeByte(end)
        SystemCall.release(end)
    }
}
