// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import Glibc

    /// A socket of the test, for what no client can set up.
    struct StreamSocket {
        let descriptor: Int32

        init?() {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            guard descriptor >= 0 else { return nil }
        }

        /// Binds a reusable port of 127.0.0.1, 0 for any; returns the port, 0 on failure.
        func bind(port: UInt16) -> UInt16 {
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(4))
            let failure = Self.with([127, 0, 0, 1], port) { Glibc.bind(descriptor, $0, $1) }
            return failure == 0 ? UInt16(clamping: CurlLoop.port(descriptor, getsockname) ?? 0) : 0
        }

        func connect(_ address: [UInt8], port: UInt16) -> Bool {
            Self.with(address, port) { Glibc.connect(descriptor, $0, $1) } == 0
        }

        func close() { _ = Glibc.close(descriptor) }

        private static func with(
            _ bytes: [UInt8], _ port: UInt16,
            _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
        ) -> Int32 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }
#endif
