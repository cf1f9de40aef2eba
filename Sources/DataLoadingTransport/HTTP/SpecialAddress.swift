// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Recognises IP addresses that are not public: this host, its network, multicast, reserved space.
///
/// The ranges are those of IANA's special-purpose registries (RFC 6890) that are not globally
/// reachable, multicast, and IPv6 forms that carry an IPv4 address, which count as that address.
package enum SpecialAddress {
    private struct Range {
        let prefix: [UInt8]
        let bits: Int

        init(_ prefix: [UInt8], _ bits: Int) {
            self.prefix = prefix
            self.bits = bits
        }

        func contains(_ address: some Collection<UInt8>) -> Bool {
            var left = bits
            for (byte, own) in zip(address, prefix) where left > 0 {
                let mask: UInt8 = left >= 8 ? 0xFF : ~(0xFF >> UInt8(left))
                guard byte & mask == own & mask else { return false }
                left -= 8
            }
            return left <= 0
        }
    }

    private static let version4 = [
        Range([0], 8),  // this network; 0.0.0.0 connects to this host
        Range([10], 8), Range([172, 16], 12), Range([192, 168], 16),  // RFC 1918
        Range([100, 64], 10),  // shared by carriers (RFC 6598)
        Range([127], 8),  // loopback
        Range([169, 254], 16),  // link-local, where clouds serve their credentials
        Range([192, 0, 0], 24), Range([192, 0, 2], 24), Range([192, 88, 99], 24),
        Range([198, 18], 15), Range([198, 51, 100], 24), Range([203, 0, 113], 24),
        Range([224], 3),  // multicast, reserved, broadcast
    ]
    /// The parts of 2000::/3 that are not global; outside of it no IPv6 address is global.
    private static let version6 = [
        Range([0x20, 0x01, 0, 0], 32),  // Teredo, which carries another host's address
        Range([0x20, 0x01, 0, 2, 0, 0], 48), Range([0x20, 0x01, 0, 0x10], 27),
        Range([0x20, 0x01, 0x0D, 0xB8], 32),
        Range([0x3F, 0xFF, 0], 20),
    ]
    private static let loopback4 = Range([127], 8)
    private static let loopback6 = Range([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 128)
    private static let global6 = Range([0x20], 3)
    private static let mapped = Range([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96)
    private static let translated = Range([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0], 96)
    private static let sixToFour = Range([0x20, 0x02], 16)

    /// Whether an address, four or sixteen bytes in network order, is not public.
    ///
    /// True for any other number of bytes.
    package static func contains(_ address: some Collection<UInt8>) -> Bool {
        switch address.count {
        case 4: version4.contains { $0.contains(address) }
        case 16: containsVersion6(address)
        default: true
        }
    }

    /// Whether an address, four or sixteen bytes in network order, is this machine's loopback.
    package static func isLoopback(_ address: some Collection<UInt8>) -> Bool {
        switch address.count {
        case 4: loopback4.contains(address)
        case 16:
            loopback6.contains(address)
                || mapped.contains(address) && loopback4.contains(address.suffix(4))
        default: false
        }
    }

    private static func containsVersion6(_ address: some Collection<UInt8>) -> Bool {
        if mapped.contains(address) || translated.contains(address) {
            return contains(Array(address.suffix(4)))
        }
        if sixToFour.contains(address) { return contains(Array(address.dropFirst(2).prefix(4))) }
        return !global6.contains(address) || version6.contains { $0.contains(address) }
    }
}
