// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    import Darwin

    extension PlatformSocket {
        /// The event that says "the client finished sending".
        static let hangUp = Int32(POLLHUP)

        /// Makes a stream socket that a started program does not inherit.
        static func make(family: Int32) throws -> Int32 {
            let descriptor = try SystemCall.check("socket", socket(family, SOCK_STREAM, 0))
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            silenceSignals(descriptor)
            return descriptor
        }

        /// Takes a connection that a started program does not inherit.
        static func acceptPrivately(_ listener: Int32) -> Int32 {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { return descriptor }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            silenceSignals(descriptor)
            return descriptor
        }

        static let sendFlags: Int32 = 0

        /// What was written and is not acknowledged; 0 where that cannot be told.
        static func unconfirmedBytes(_ descriptor: Int32) -> Int {
            var count: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &size)
            return Int(count)
        }

        /// Forbids SIGPIPE for the socket; here it is no flag of `send`.
        private static func silenceSignals(_ descriptor: Int32) {
            var on: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            _ = setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, size)
        }
    }
#endif
