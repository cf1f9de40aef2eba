// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The hosts that have labels of their own, at most 64.
///
/// A host has labels for the ports 80 and 443, and for each other port with which it is configured.
struct HostTable: Sendable {
    private struct Entry: Sendable {
        /// The host as in a URL, in lower case.
        let host: [UInt8]
        /// The host as a label, an IPv6 address without brackets.
        let address: String
        var ports: [UInt16]
    }

    /// The maximum number of hosts; a further port of a host counts as one more.
    static let maxHosts = 64
    private var entries: [Entry] = []
    /// The hashes of the entries' hosts, apart from them because a search reads all of them.
    private var hashes: [UInt64] = []
    /// The labels of the origins that the entries represent.
    private var labels: [Origin: HostLabel] = [:]

    /// Makes a table of hosts ("api.example.com"), hosts with ports ("[::1]:8443") and URLs.
    ///
    /// Those beyond the maximum have no label of their own, and neither has what is no host.
    init(_ hosts: some Sequence<String>) {
        var count = 0
        for host in hosts where count < Self.maxHosts {
            let text = host.contains("://") ? host : "https://" + host
            if let target = try? RequestTarget(text: text), insert(target.origin) { count += 1 }
        }
        for (index, entry) in entries.enumerated() {
            for port in entry.ports {
                for isSecure in [false, true] {
                    let host = String(decoding: entry.host, as: UTF8.self)
                    labels[Origin(isSecure: isSecure, host: host, port: port)] =
                        HostLabel(index: UInt8(index), port: port)
                }
            }
        }
    }

    /// Inserts a host and its port; false if the table has both.
    private mutating func insert(_ origin: Origin) -> Bool {
        let bytes = Array(origin.host.utf8)
        if let index = entries.firstIndex(where: { $0.host == bytes }) {
            guard !entries[index].ports.contains(origin.port) else { return false }
            entries[index].ports.append(origin.port)
            return true
        }
        var text = origin.description
        guard let hash = text.withUTF8({ URLAuthority(of: $0)?.hash }) else { return false }
        let address = origin.host.drop { $0 == "[" }.prefix { $0 != "]" }
        let standard: [UInt16] = [443, 80]
        hashes.append(hash)
        entries.append(
            Entry(
                host: bytes, address: String(address),
                ports: standard.contains(origin.port) ? standard : standard + [origin.port]))
        return true
    }

    /// The label of an origin, which has a hash already; `other` for one that is not the table's.
    func label(of origin: Origin?) -> HostLabel { origin.flatMap { labels[$0] } ?? .other }

    /// The label of the host of a URL; `other` for what is no URL of the table's hosts.
    ///
    /// Each attempt asks, so nothing is allocated.
    func label(forURL text: String) -> HostLabel {
        var text = text
        return text.withUTF8 { url in
            guard let found = URLAuthority(of: url), let index = index(of: found, in: url) else {
                return .other
            }
            return HostLabel(index: UInt8(index), port: found.port)
        }
    }

    private func index(of found: URLAuthority, in url: URLAuthority.Bytes) -> Int? {
        for index in hashes.indices where hashes[index] == found.hash {
            let host = url[found.host]
            guard entries[index].ports.contains(found.port),
                entries[index].host.elementsEqual(host, by: { $0 == $1.asciiLowercased })
            else { continue }
            return index
        }
        return nil
    }

    /// The labels of a host; without a port for another host.
    func labels(_ host: HostLabel) -> [Label] {
        host.port == 0
            ? [addressLabel(host)]
            : [addressLabel(host), Label("server.port", String(host.port))]
    }

    /// The label of a host without its port.
    func addressLabel(_ host: HostLabel) -> Label {
        let isKnown = entries.indices.contains(Int(host.index))
        return Label(
            "server.address", isKnown ? entries[Int(host.index)].address : LabelNames.other)
    }
}
