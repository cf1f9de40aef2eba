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

/// Wakes a thread that polls, as often as it is rung.
package final class WakeSignal: Sendable {
    /// The end to poll; ready from a ring until it is cleared.
    package let descriptor: Int32
    private let writeEnd: Int32

    package init() throws {
        let ends = try PlatformSocket.makePipe()
        (descriptor, writeEnd) = ends
        for end in [ends.read, ends.write] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    }

    deinit {
        SystemCall.release(descriptor)
        SystemCall.release(writeEnd)
    }

    /// Wakes the thread; a full pipe wakes it too.
    package func ring() { SystemCall.writeByte(writeEnd) }

    /// Takes all rings that came before.
    package func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while true {
            let outcome = bytes.withUnsafeMutableBytes { bytes in
                SystemCall.attempt { read(descriptor, bytes.baseAddress, bytes.count) }
            }
            guard case .count(64) = outcome else { return }
        }
    }
}
