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

/// A pipe that carries one message, by being closed: every thread that polls its reading end wakes.
final class WakePipe: Sendable {
    /// The end to poll; it hangs up when the pipe is fired.
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
        if let end { SystemCall.release(end) }
    }
}
