// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A pipe with one byte that is never read: it wakes every thread that polls it.
package final class WakePipe: Sendable {
    /// The end to poll; ready once the pipe is fired.
    package let descriptor: Int32
    private let writeEnd: Locked<Int32?>

    package init() throws {
        let ends = try PlatformSocket.makePipe()
        descriptor = ends.read
        writeEnd = Locked(ends.write)
    }

    deinit {
        fire()
        SystemCall.release(descriptor)
    }

    /// Whether it was fired.
    package var isFired: Bool {
        writeEnd.withLock { $0 == nil }
    }

    /// Wakes every polling thread, for good.
    package func fire() {
        let end = writeEnd.withLock { end in
            defer { end = nil }
            return end
        }
        guard let end else { return }
        // Closing is not enough: a child program that was just started may hold a copy for a
        // moment.
        SystemCall.writeByte(end)
        SystemCall.release(end)
    }
}
