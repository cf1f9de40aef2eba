// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    import Darwin

    extension PlatformSocket {
        /// The poll event for "the client finished sending".
        package static let hangUp = Int32(POLLHUP)

        /// Makes a stream socket that child programs do not inherit.
        package static func make(family: Int32) throws -> Int32 {
            let descriptor = try SystemCall.check("socket", socket(family, SOCK_STREAM, 0))
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            silenceSignals(descriptor)
            return descriptor
        }

        /// Accepts a connection that child programs do not inherit.
        package static func acceptPrivately(_ listener: Int32) -> Int32 {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { return descriptor }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            silenceSignals(descriptor)
            return descriptor
        }

        /// Makes a pipe; Darwin has no call that hides it at once.
        static func pipePrivately(_ ends: inout [Int32]) -> Int32 { pipeThenHide(&ends) }

        package static let sendFlags: Int32 = 0

        /// The number of bytes written but not acknowledged; 0 when unknown.
        package static func unconfirmedBytes(_ descriptor: Int32) -> Int {
            var count: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &size)
            return Int(count)
        }

        /// Disables SIGPIPE for the socket; on Darwin `send` has no flag for it.
        private static func silenceSignals(_ descriptor: Int32) {
            var on: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            _ = setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, size)
        }
    }
#endif
