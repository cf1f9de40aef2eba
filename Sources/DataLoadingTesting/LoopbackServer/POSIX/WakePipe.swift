// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import DataLoadingSupport
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

import DataLoading

/// A pipe with one byte that is never read: it wakes every thread that polls it.
final class WakePipe: Sendable {
    /// The end to poll; ready once the pipe is fired.
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

    /// Wakes every polling thread, for good.
    func fire() {
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
