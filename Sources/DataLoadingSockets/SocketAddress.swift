// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#else
    package import Darwin
#endif

/// An address with a port, IPv4 or IPv6, or the path of a Unix-domain socket.
package struct SocketAddress {
    private var storage = sockaddr_storage()
    private var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

    /// Parses a numeric address; names are not resolved.
    package init(host: String, port: UInt16) throws {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, host, &four) == 1 {
            fill(sockaddr_in.self) {
                $0.sin_family = sa_family_t(AF_INET)
                $0.sin_port = port.bigEndian
                $0.sin_addr = four
            }
        } else if inet_pton(AF_INET6, host, &six) == 1 {
            fill(sockaddr_in6.self) {
                $0.sin6_family = sa_family_t(AF_INET6)
                $0.sin6_port = port.bigEndian
                $0.sin6_addr = six
            }
        } else {
            throw SocketError(operation: "inet_pton", code: 0)
        }
    }

    /// Makes the address of a Unix-domain socket.
    package init(path: String) throws {
        // With the zero byte that ends it.
        guard path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path),
            path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0)
        else { throw SocketError(operation: "path of a socket", code: 0) }
        fill(sockaddr_un.self) { address in
            address.sun_family = sa_family_t(AF_UNIX)
            // The path is shorter than the array, whose rest is zero.
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        }
    }

    /// Reads the address that a socket is bound to.
    package init(boundTo descriptor: Int32) throws {
        let result = withUnsafeMutableBytes(of: &storage) { bytes in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else {
                return Int32(-1)
            }
            return getsockname(descriptor, address, &length)
        }
        try SystemCall.check("getsockname", result)
    }

    package var family: Int32 { Int32(storage.ss_family) }

    /// The port, which both families store at the same offset.
    package var port: UInt16 {
        withUnsafeBytes(of: storage) {
            UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
    }

    /// Passes the address to `body` in the form that `bind` and `connect` take.
    package func withPointer<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    private mutating func fill<Address>(_ type: Address.Type, _ body: (inout Address) -> Void) {
        length = socklen_t(MemoryLayout<Address>.size)
        withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: type, capacity: 1) { body(&$0.pointee) }
        }
    }
}
