// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// The hosts that have labels of their own: what is under the lock of a `HostTable`.
struct KnownHosts: Sendable {
    private struct Entry: Sendable {
        /// The host as in a URL, in lower case.
        let host: [UInt8]
        /// The host as a label, an IPv6 address without brackets.
        let address: String
        var ports: [UInt16]
    }

    private var entries: [Entry] = []
    /// The hashes of the entries' hosts, apart from them because a search reads all of them.
    private var hashes: [UInt64] = []
    /// The labels of the origins that the entries represent.
    private var labels: [Origin: HostLabel] = [:]
    /// The first origins that loads had: comparing so few takes less time than one look into a table.
    private var firstOrigins: [(origin: Origin, label: HostLabel)] = []
    /// The starts of the first URLs that attempts had, the first slash of the path included.
    private var firstStarts: [(text: [UInt8], label: HostLabel)] = []
    private static let compared = 8
    /// The number of hosts; a further port of a host counts as one more.
    private(set) var count = 0

    /// The number of hosts, whatever their ports.
    var hosts: Int { entries.count }

    /// The host of an entry as a label; nil where there is none.
    func address(at index: UInt8) -> String? {
        entries.indices.contains(Int(index)) ? entries[Int(index)].address : nil
    }

    /// Adds a host and its port, which may be known.
    mutating func insert(_ origin: Origin) {
        let bytes = Array(origin.host.utf8)
        if let index = entries.firstIndex(where: { $0.host == bytes }) {
            guard !entries[index].ports.contains(origin.port) else { return }
            entries[index].ports.append(origin.port)
            note(origin, at: index, port: origin.port)
        } else {
            var text = origin.description
            guard let hash = text.withUTF8({ URLAuthority(of: $0)?.hash }) else { return }
            let address = origin.host.drop { $0 == "[" }.prefix { $0 != "]" }
            let standard: [UInt16] = [443, 80]
            let ports = standard.contains(origin.port) ? standard : standard + [origin.port]
            hashes.append(hash)
            entries.append(Entry(host: bytes, address: String(address), ports: ports))
            for port in ports { note(origin, at: entries.count - 1, port: port) }
        }
        count += 1
    }

    private mutating func note(_ origin: Origin, at index: Int, port: UInt16) {
        let label = HostLabel(index: UInt8(clamping: index), port: port)
        for isSecure in [false, true] {
            labels[Origin(isSecure: isSecure, host: origin.host, port: port)] = label
        }
    }

    mutating func label(of origin: Origin) -> HostLabel? {
        for index in firstOrigins.indices where firstOrigins[index].origin == origin {
            return firstOrigins[index].label
        }
        guard let label = labels[origin] else { return nil }
        if firstOrigins.count < Self.compared { firstOrigins.append((origin, label)) }
        return label
    }

    mutating func label(forURL url: URLAuthority.Bytes) -> HostLabel? {
        for index in firstStarts.indices where firstStarts[index].text.isStart(of: url) {
            return firstStarts[index].label
        }
        guard let found = URLAuthority(of: url), let label = label(of: found, in: url) else {
            return nil
        }
        if firstStarts.count < Self.compared {
            // A query may hold what is secret, and is not kept.
            let end = url[found.host.upperBound...].firstIndex { "/?#".utf8.contains($0) }
            if let end, url[end] == UInt8(ascii: "/") {
                firstStarts.append((Array(url[...end]), label))
            }
        }
        return label
    }

    private func label(of found: URLAuthority, in url: URLAuthority.Bytes) -> HostLabel? {
        for index in hashes.indices where hashes[index] == found.hash {
            let host = url[found.host]
            guard entries[index].ports.contains(found.port),
                entries[index].host.elementsEqual(host, by: { $0 == $1.asciiLowercased })
            else { continue }
            return HostLabel(index: UInt8(clamping: index), port: found.port)
        }
        return nil
    }
}

extension [UInt8] {
    /// Whether other bytes begin with these.
    fileprivate func isStart(of bytes: URLAuthority.Bytes) -> Bool {
        guard bytes.count >= count else { return false }
        return withUnsafeBytes { own in
            guard let own = own.baseAddress, let other = bytes.baseAddress else { return false }
            return memcmp(own, other, count) == 0
        }
    }
}
