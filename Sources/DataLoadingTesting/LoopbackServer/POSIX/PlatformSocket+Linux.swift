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

        /// Nothing to do: here each call to `send` says it.
        static func silenceSignals(_ descriptor: Int32) {}

        static let sendFlags = Int32(MSG_NOSIGNAL)
    }
#endif
