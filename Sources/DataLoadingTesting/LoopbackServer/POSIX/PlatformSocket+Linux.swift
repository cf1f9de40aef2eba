// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(Android)
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    extension PlatformSocket {
        /// The event that says "the client finished sending", also when bytes wait in front of it.
        ///
        /// It is POLLRDHUP, which the C library shows to GNU programs only.
        static let hangUp: Int32 = 0x2000

        /// Makes a stream socket that a started program does not inherit.
        static func make(family: Int32) throws -> Int32 {
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            return try SystemCall.check("socket", socket(family, kind, 0))
        }

        /// Takes a connection that, from its first moment on, no started program inherits.
        ///
        /// A program that holds a copy would keep a closed connection open. The C library shows
        /// `accept4` to GNU programs only, so it is looked up by its name.
        static func acceptPrivately(_ listener: Int32) -> Int32 {
            guard let accept4 else {
                let descriptor = accept(listener, nil, nil)
                if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
                return descriptor
            }
            return accept4(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
        }

        static let sendFlags = Int32(MSG_NOSIGNAL)

        /// What was written and is not acknowledged; 0 where that cannot be told.
        static func unconfirmedBytes(_ descriptor: Int32) -> Int {
            var count: Int32 = 0
            // TIOCOUTQ, also known as SIOCOUTQ
            guard let ioctl, ioctl(descriptor, 0x5411, &count) == 0 else { return 0 }
            return Int(count)
        }

        /// Looked up by its name, as Swift calls no variadic function.
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
    }
#endif
