// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Which addresses a host is tried at, and in which order.
///
/// Only the peer of the connection changes: URL, Host field, server name, certificate check, rate
/// and authorisation stay those of the host. The addresses are tried in the order given, the host's
/// own name, by DNS, last. An address to which no connection comes about is left out at once, one
/// that answers 502, 503, 504 or nothing five times in a row then: for 30 s, 60 s, 120 s and so on up
/// to 300 s, or for other times that were set, of which half is random. After that one load at a time
/// probes it; a success makes it as good as new. When all are left out, the one that is due first is
/// tried.
///
/// An address that several hosts share is left out for all of them. Any thread may call.
///
/// ```swift
/// let addresses = ["10.0.0.1", "edge.example.com:8443", "[2001:db8::1]"]
/// resolver.setAddresses(addresses, forHost: "example.com")
/// ```
public final class HostResolver: Sendable {
    private struct State: Sendable {
        var table: AddressTable
        var timekeeper: any Timekeeper = SystemTimekeeper()
        var random = RandomSource.system
        var malformed = MalformedSettings<String>()
    }

    private let state: Locked<State>

    /// Makes a resolver that knows no addresses: every host is reached by DNS.
    ///
    /// - Parameters:
    ///   - firstEjection: How long an address is left out when it fails for the first time, which
    ///     doubles each further time; default 30 s. Half of it is random.
    ///   - longestEjection: The longest time that an address is left out for; default 300 s.
    public init(
        firstEjection: Duration = .seconds(30), longestEjection: Duration = .seconds(300)
    ) {
        let ejection = AddressHealth.Ejection(first: firstEjection, longest: longestEjection)
        state = Locked(State(table: AddressTable(ejection: ejection)))
    }

    /// Replaces the addresses of a host; an empty list leaves its DNS name alone.
    ///
    /// An address is a name or an IPv4 address, or an IPv6 address in brackets, with or without a
    /// port; without one the URL's port holds. A double is ignored, also in another spelling such as
    /// `127.1` for `127.0.0.1`.
    /// What is known about an address is kept while any host lists it.
    ///
    /// When an address is none of these, loads of the host end `.invalidConfiguration` until its
    /// addresses are set right. When `host` is no host, or has a port, nobody can tell which loads
    /// were meant: all of them end so until an empty list is set for the same text.
    public func setAddresses(_ addresses: [String], forHost host: String) {
        let valid = addresses.compactMap(Self.normalized)
        state.withLock { state in
            guard let name = Self.normalized(host), !Self.hasPort(name) else {
                return state.malformed.set(
                    addresses.isEmpty ? nil : .malformedAddressedHost, forText: host)
            }
            let isWhole = valid.count == addresses.count
            state.malformed.set(isWhole ? nil : .malformedAddress, for: name)
            if isWhole { state.table.set(valid, forHost: name) }
        }
    }

    /// Throws `.invalidConfiguration` when addresses, or a host that some were set for, are malformed.
    public func validate() throws(DataLoaderError) {
        if let malformedPart { throw malformedPart }
    }

    /// The address that a load for the host would be sent to now, or the host when DNS is to say.
    public func address(forHost host: String) -> String {
        guard let key = Self.normalized(host) else { return host }
        let name = state.withLock { state in
            state.table.choice(forHost: key, excluding: [], at: state.timekeeper.now)?.name
        }
        return name == key ? host : name ?? host
    }

    /// Leaves an address out, as after a failed connection; also again, while it is left out.
    ///
    /// For what is known from outside, a health check for example. Ignored for an address that no
    /// host lists.
    public func markAddressAsUnreachable(_ address: String) {
        guard let name = Self.normalized(address) else { return }
        state.withLock { state in
            state.table.eject(name, at: state.timekeeper.now, random: state.random)
        }
    }

    /// The address as a URL's host is written; nil for what is none.
    private static func normalized(_ address: String) -> String? {
        guard !address.utf8.contains(where: { "/?#".utf8.contains($0) }),
            address.utf8.last != UInt8(ascii: ":"),
            let origin = try? RequestTarget(text: "http://" + address).origin
        else { return nil }
        return origin.host + (hasPort(address) ? ":\(origin.port)" : "")
    }

    private static func hasPort(_ address: String) -> Bool {
        address.utf8.last != UInt8(ascii: "]") && address.utf8.contains(UInt8(ascii: ":"))
    }
}

extension HostResolver {
    /// The peer that an attempt may dial.
    package enum Candidate: Hashable, Sendable {
        /// The host's own name, resolved by DNS as if there were no addresses.
        case name
        /// An address, as a transport takes it.
        case address(String)

        /// What excludes this candidate from the choice for a host.
        package func exclusion(forHost host: String) -> String {
            switch self {
            case .name: host
            case .address(let address): address
            }
        }
    }

    /// Chooses where an attempt goes; nil when every candidate of the host is excluded.
    ///
    /// `host` is the URL's, in lower case; `excluded` names what this load has tried in vain. Every
    /// choice must be reported: a probe keeps others from the address, for a minute at most.
    package func choose(
        forHost host: String, excluding excluded: Set<String> = []
    ) -> Candidate? {
        state.withLock { state in
            guard !state.table.isEmpty else { return excluded.contains(host) ? nil : .name }
            let now = state.timekeeper.now
            let choice = state.table.choice(forHost: host, excluding: excluded, at: now)
            guard let (name, isProbe) = choice else { return nil }
            if isProbe { state.table.beginProbe(name, at: now) }
            return name == host ? .name : .address(name)
        }
    }

    /// Learns from an attempt: call it once for each choice, at the head or at the failure.
    package func report(_ candidate: Candidate, forHost host: String, outcome: AddressOutcome) {
        state.withLock { state in
            guard !state.table.isEmpty else { return }
            let name = candidate.exclusion(forHost: host)
            state.table.note(
                outcome, of: name, forHost: host, at: state.timekeeper.now, random: state.random)
        }
    }

    /// Takes a service's time and chance, before its first load.
    package func adopt(_ timekeeper: any Timekeeper, random: RandomSource) {
        state.withLock { state in
            state.table.rebase(by: timekeeper.now - state.timekeeper.now)
            state.timekeeper = timekeeper
            state.random = random
        }
    }

    /// The number of addresses whose failures take memory.
    package var unhealthyCount: Int {
        state.withLock { $0.table.unhealthyCount }
    }
}

extension HostResolver: Validatable {
    var malformedPart: DataLoaderError? { state.withLock { $0.malformed.first } }

    /// What was set, and cannot be meant, for a host, or for what is no host.
    func malformedSetting(forHost host: String) -> DataLoaderError? {
        state.withLock { $0.malformed.isEmpty ? nil : $0.malformed.concerning(host) }
    }
}
