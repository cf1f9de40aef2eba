// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The hosts that have labels of their own, at most 64; copies are the same table.
///
/// A host has labels for the ports 80 and 443, and for each other port with which it is configured. It
/// keeps its place, so that what was counted keeps its labels when others are added.
struct HostTable: Sendable {
    /// The maximum number of hosts; a further port of a host counts as one more.
    static let maxHosts = 64
    private let known = Locked(KnownHosts())

    /// Makes a table of hosts ("api.example.com"), hosts with ports ("[::1]:8443") and URLs.
    init(_ hosts: some Sequence<String>) {
        add(hosts)
    }

    /// The number of hosts, whatever their ports: their labels have indices below it.
    var count: Int { known.withLock { $0.hosts } }

    /// Whether no further host has a label of its own.
    var isFull: Bool { known.withLock { $0.count >= Self.maxHosts } }

    /// Adds hosts that it does not have.
    ///
    /// Those beyond the maximum have no label of their own, and neither has what is no host.
    func add(_ hosts: some Sequence<String>) {
        for host in hosts {
            // To read a host costs more than to ask.
            if isFull { return }
            let text = host.contains("://") ? host : "https://" + host
            guard let origin = (try? RequestTarget(text: text))?.origin else { continue }
            known.withLock { known in
                if known.count < Self.maxHosts { known.insert(origin) }
            }
        }
    }

    /// The label of an origin, which has a hash already; `other` for one that is not the table's.
    func label(of origin: Origin?) -> HostLabel {
        origin.flatMap { origin in known.withLock { $0.label(of: origin) } } ?? .other
    }

    /// The label of the host of a URL; `other` for what is no URL of the table's hosts.
    ///
    /// Each attempt asks, so that nothing is allocated but for the first few.
    func label(forURL text: String) -> HostLabel {
        var text = text
        return text.withUTF8 { url in known.withLock { $0.label(forURL: url) } } ?? .other
    }

    /// The labels of a host; without a port for another host.
    func labels(_ host: HostLabel) -> [Label] {
        host.port == 0
            ? [addressLabel(host)]
            : [addressLabel(host), Label("server.port", String(host.port))]
    }

    /// The label of a host without its port.
    func addressLabel(_ host: HostLabel) -> Label {
        let address = known.withLock { $0.address(at: host.index) }
        return Label("server.address", address ?? LabelNames.other)
    }
}
