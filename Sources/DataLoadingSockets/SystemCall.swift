// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#else
    package import Darwin
#endif

/// Thin wrappers of system calls, so that few other files need `errno`.
package enum SystemCall {
    /// The outcome of a call on a non-blocking descriptor.
    package enum Outcome {
        case count(Int)
        case wouldBlock
        case failed(Int32)
    }

    /// Runs a call, and repeats it after EINTR.
    package static func attempt(_ call: () -> Int) -> Outcome {
        while true {
            let count = call()
            if count >= 0 { return .count(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .wouldBlock
            case let code: return .failed(code)
            }
        }
    }

    /// Throws when the result of a call is negative.
    @discardableResult package static func check(_ operation: String, _ result: Int32) throws
        -> Int32
    {
        guard result < 0 else { return result }
        throw SocketError(operation: operation, code: errno)
    }

    package static func receive(
        _ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer
    ) -> Outcome {
        attempt { recv(descriptor, bytes.baseAddress, bytes.count, 0) }
    }

    /// Closes a descriptor; an interrupted close has closed it too.
    package static func release(_ descriptor: Int32) {
        _ = close(descriptor)
    }

    /// Writes one byte; the reading end of the pipe must be open.
    package static func writeByte(_ descriptor: Int32) {
        var byte: UInt8 = 1
        _ = write(descriptor, &byte, 1)
    }

    /// Waits for events, without limit when `milliseconds` is negative; after EINTR there are none.
    package static func awaitEvents(_ descriptors: inout [pollfd], milliseconds: Int32) {
        guard poll(&descriptors, nfds_t(descriptors.count), milliseconds) < 0 else { return }
        for index in descriptors.indices { descriptors[index].revents = 0 }
    }
}

extension pollfd {
    package init(_ descriptor: Int32, for events: Int32) {
        self.init(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0)
    }

    /// Whether any event occurred, including an error.
    package var isReady: Bool { revents != 0 }

    package func has(_ event: Int32) -> Bool { Int32(revents) & event != 0 }
}
