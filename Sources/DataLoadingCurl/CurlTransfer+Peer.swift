// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

extension CurlTransfer {
    /// Returns whether the attempt may connect to an address; otherwise notes why not.
    func mayConnect(_ address: UnsafeMutablePointer<ccurl_sockaddr>) -> Bool {
        guard task?.request.limitsPeers == true else { return true }
        return isLocal ? allowsSocket() : allows(Self.addressBytes(address))
    }

    /// Returns whether the attempt may use a connection; otherwise notes why not.
    ///
    /// An attempt without that restriction may have opened it.
    func maySend(to peer: [UInt8]) -> Bool {
        guard task?.request.limitsPeers == true else { return true }
        return isLocal ? allowsSocket() : allows(peer)
    }

    private func allows(_ address: [UInt8]) -> Bool {
        guard let request = task?.request else { return false }
        if request.needsLoopbackPeer || request.proxyNeedsLoopbackPeer,
            !SpecialAddress.isLoopback(address)
        {
            state.stop = .plainCredentialElsewhere
        } else if request.refusesPrivateAddresses, SpecialAddress.contains(address) {
            state.stop = .privateAddress
        } else {
            return true
        }
        return false
    }

    /// Returns the address that follows a `curl_sockaddr`; empty for families other than IPv4
    /// and IPv6.
    static func addressBytes(
        _ address: UnsafeMutablePointer<ccurl_sockaddr>
    ) -> [UInt8] {
        let start = UnsafeRawPointer(address) + MemoryLayout<ccurl_sockaddr>.size
        let length = Int(address.pointee.addrlen)
        switch address.pointee.family {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            let socket = start.loadUnaligned(as: sockaddr_in.self)
            return withUnsafeBytes(of: socket.sin_addr) { Array($0) }
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            let socket = start.loadUnaligned(as: sockaddr_in6.self)
            return withUnsafeBytes(of: socket.sin6_addr) { Array($0) }
        default: return []
        }
    }

    /// Returns the port that follows a `curl_sockaddr`; its offset is the same in both
    /// families.
    static func port(_ address: UnsafeMutablePointer<ccurl_sockaddr>) -> Int {
        let start = UnsafeRawPointer(address) + MemoryLayout<ccurl_sockaddr>.size
        guard address.pointee.family != AF_UNIX,
            Int(address.pointee.addrlen) >= MemoryLayout<sockaddr_in>.size
        else { return 0 }
        return Int(UInt16(bigEndian: start.loadUnaligned(as: sockaddr_in.self).sin_port))
    }

    /// The peer's address according to libcurl; empty before there is a connection.
    var peerAddress: [UInt8] {
        var text: UnsafePointer<CChar>?
        guard ccurl_get_text(easy, CurlInfo.remoteAddress, &text) == 0, let text else {
            return []
        }
        return Self.addressBytes(text)
    }

    /// Returns the address that a socket is connected to.
    static func peerAddress(of socket: Int32) -> [UInt8] {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        return withUnsafeMutableBytes(of: &address) { bytes in
            let result = bytes.withMemoryRebound(to: sockaddr.self) { addresses in
                addresses.baseAddress.map { getpeername(socket, $0, &length) }
            }
            let isVersion6 = bytes.load(as: sockaddr.self).sa_family == AF_INET6
            // The offsets of the address in a sockaddr_in6 and a sockaddr_in.
            return result == 0 ? Array(isVersion6 ? bytes[8..<24] : bytes[4..<8]) : []
        }
    }

    /// Parses a numeric address without its IPv6 scope; empty when the text is no address.
    static func addressBytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
        var version4 = in_addr()
        if inet_pton(AF_INET, text, &version4) == 1 {
            return withUnsafeBytes(of: version4) { Array($0) }
        }
        var version6 = in6_addr()
        let unscoped = String(cString: text).prefix { $0 != "%" }
        guard inet_pton(AF_INET6, String(unscoped), &version6) == 1 else { return [] }
        return withUnsafeBytes(of: version6) { Array($0) }
    }
}
