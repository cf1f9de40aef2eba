// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The socket calls that differ between systems; one extension file per system has the differences.
package enum PlatformSocket {
    /// Accepts a connection: close-on-exec and non-blocking.
    package static func takeConnection(_ listener: Int32) -> SystemCall.Outcome {
        let outcome = SystemCall.attempt { Int(acceptPrivately(listener)) }
        if case .count(let descriptor) = outcome {
            _ = fcntl(Int32(descriptor), F_SETFL, O_NONBLOCK)
        }
        return outcome
    }

    /// Sends what fits, without raising SIGPIPE when the client is gone.
    package static func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer)
        -> SystemCall.Outcome
    {
        SystemCall.attempt { send(descriptor, bytes.baseAddress, bytes.count, sendFlags) }
    }

    /// Makes a pipe that child programs do not inherit.
    package static func makePipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        try SystemCall.check("pipe", pipePrivately(&ends))
        return (ends[0], ends[1])
    }

    /// Makes a pipe that a child program which is started in between does inherit.
    static func pipeThenHide(_ ends: inout [Int32]) -> Int32 {
        let result = pipe(&ends)
        if result == 0 { for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) } }
        return result
    }
}
