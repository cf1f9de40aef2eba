// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(Android)
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    extension PlatformSocket {
        /// The poll event for "the client finished sending", also while bytes are unread.
        ///
        /// It is POLLRDHUP, which the C library declares for GNU programs only.
        package static let hangUp: Int32 = 0x2000

        /// Makes a stream socket that child programs do not inherit.
        package static func make(family: Int32) throws -> Int32 {
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            return try SystemCall.check("socket", socket(family, kind, 0))
        }

        /// Accepts a connection that, from its first moment on, child programs do not inherit.
        ///
        /// A child program with a copy would keep a closed connection open. The C library declares
        /// `accept4` for GNU programs only, so it is looked up by name.
        package static func acceptPrivately(_ listener: Int32) -> Int32 {
            guard let accept4 else {
                let descriptor = accept(listener, nil, nil)
                if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
                return descriptor
            }
            return accept4(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
        }

        /// Makes a pipe that, from its first moment on, child programs do not inherit.
        ///
        /// A child program with a copy would keep a closed end open. `pipe2` is declared for GNU
        /// programs only, like `accept4`.
        static func pipePrivately(_ ends: inout [Int32]) -> Int32 {
            guard let pipe2 else { return pipeThenHide(&ends) }
            return pipe2(&ends, O_CLOEXEC)
        }

        package static let sendFlags = Int32(MSG_NOSIGNAL)

        /// The number of bytes written but not acknowledged; 0 when unknown.
        package static func unconfirmedBytes(_ descriptor: Int32) -> Int {
            var count: Int32 = 0
            // TIOCOUTQ, also known as SIOCOUTQ.
            guard let ioctl, ioctl(descriptor, 0x5411, &count) == 0 else { return 0 }
            return Int(count)
        }

        /// Looked up by name, because Swift cannot call variadic functions.
        private static let ioctl = dlsym(nil, "ioctl").map {
            unsafeBitCast(
                $0, to: (@convention(c) (Int32, UInt, UnsafeMutablePointer<Int32>) -> Int32).self)
        }

        private typealias Accept4 =
            @convention(c) (
                Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?, Int32
            ) -> Int32

        private static let accept4 = dlsym(nil, "accept4").map {
            unsafeBitCast($0, to: Accept4.self)
        }

        private typealias Pipe2 = @convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Int32

        private static let pipe2 = dlsym(nil, "pipe2").map {
            unsafeBitCast($0, to: Pipe2.self)
        }
    }
#endif
