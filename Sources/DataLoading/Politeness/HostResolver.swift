// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingTransport
import DataLoadingSupport

/// Maps hosts to fallback addresses and ejects those that fail.
///
/// An address changes only the peer of the connection. URL, Host field, server name, certificate
/// check, rate and authorisation stay those of the host. Addresses are tried in the order given;
/// the host's own name, resolved by DNS, is last, unless it is excluded.
///
/// An address is ejected as soon as a connection to it fails, or after five 502, 503, 504 or
/// timed-out attempts in a row. A deadline counts when it is no shorter than the service's limits,
/// the idle limit no longer, and the attempt, without a body to send, waited for half of it.
/// Ejections last 30 s, 60 s, 120 s and so on up to 300 s, or as configured; half of each is random.
/// Then one load at a time probes the address. A success clears its record, unless its attempt began
/// before the ejection. When all addresses are ejected, the resolver returns the one whose ejection
/// ends first.
///
/// An address that several hosts share is ejected for all of them. Any thread may call.
///
/// ```swift
/// let addresses = ["10.0.0.1", "edge.example.com:8443", "[2001:db8::1]"]
/// resolver.setAddresses(addresses, forHost: "example.com")
/// ```
/// A daemon on the same machine may listen on a Unix-domain socket. Its address is `unix:` and the
/// absolute path of the socket, and its host may be any name:
///
/// ```swift
/// resolver.setAddresses(
///     ["unix:/run/sibling.sock"], forHost: "sibling", fallsBackToDNS: false)
/// ```
/// Only these settings lead to a socket; neither a URL nor a redirect can name one. A redirect to
/// the host uses its addresses like any load.
public final class HostResolver: Sendable {
    private struct State: Sendable {
        var table: AddressTable
        var timekeeper: any Timekeeper = SystemTimekeeper()
        var random = RandomSource.system
        var malformed = MalformedSettings<String>()
    }

    private let state: Locked<State>

    /// Makes a resolver without addresses: every host is resolved by DNS.
    ///
    /// - Parameters:
    ///   - firstEjection: The length of the first ejection, which doubles each further time;
    ///     default 30 s. Half of it is random.
    ///   - maxEjection: The maximum length of an ejection; default 300 s, and not shorter than
    ///     the first.
    ///
    /// Both are above zero and at most a day. With other lengths every load ends
    /// `.invalidConfiguration`.
    public init(
        firstEjection: Duration = .seconds(30), maxEjection: Duration = .seconds(300)
    ) {
        let ejection = AddressHealth.Ejection(first: firstEjection, longest: maxEjection)
        var first = State(table: AddressTable(ejection: ejection))
        first.malformed = Self.faults(of: ejection)
        state = Locked(first)
    }

    private static func faults(of ejection: AddressHealth.Ejection) -> MalformedSettings<String> {
        var faults = MalformedSettings<String>()
        // Stored under a text that no caller sets as a host, so that the error stays.
        if ejection.isMalformed { faults.set(.malformedEjection, forText: "\0") }
        return faults
    }

    /// Replaces the addresses of a host; an empty list leaves the host to DNS.
    ///
    /// An address is a name, an IPv4 address or an IPv6 address in brackets, with or without a
    /// port, or `unix:` and the absolute path of a socket. The default port is the URL's. A path
    /// has at most 107 bytes on Linux and 103 on Apple's platforms, which is the system's limit. A
    /// duplicate is ignored, also in another spelling such as `127.1` for `127.0.0.1`. The resolver
    /// keeps the health of an address while any host lists it.
    ///
    /// With `fallsBackToDNS`, true by default, the host's own name follows the addresses. Without
    /// it a load whose addresses all fail ends with the last failure, and DNS is never asked for
    /// the host.
    ///
    /// When an address has none of these forms, loads of the host end `.invalidConfiguration` until
    /// its addresses are set correctly. When `host` is not a host, or has a port, the resolver
    /// cannot tell which loads were meant. All loads then end so, until an empty list is set for
    /// the same text.
    public func setAddresses(
        _ addresses: [String], forHost host: String, fallsBackToDNS: Bool = true
    ) {
        let valid = addresses.compactMap(Self.normalizedAddress)
        state.withLock { state in
            guard let name = Self.normalized(host), !Self.hasPort(name) else {
                return state.malformed.set(
                    addresses.isEmpty ? nil : .malformedAddressedHost, forText: host)
            }
            let isWhole = valid.count == addresses.count
            state.malformed.set(isWhole ? nil : .malformedAddress, for: name)
            if isWhole {
                state.table.set(valid, forHost: name, appendsName: fallsBackToDNS)
            }
        }
    }

    /// Replaces the addresses of all hosts at once, for example when a daemon reads its configuration
    /// again.
    ///
    /// A host that is not named is left to DNS. What is known of the health of an address stays while
    /// any host lists it. Loads under way keep the address that they use.
    ///
    /// - Parameters:
    ///   - addresses: The addresses of each host, as `setAddresses(_:forHost:fallsBackToDNS:)` takes
    ///     them.
    ///   - hostsWithoutDNS: Hosts of `addresses` whose own name does not follow their addresses.
    /// - Throws: `.invalidConfiguration` for a malformed host or address, for a host that is named twice,
    ///   and for one without DNS that has no addresses. Nothing has changed then.
    public func replaceAddresses(
        _ addresses: [String: [String]], hostsWithoutDNS: Set<String> = []
    ) throws(DataLoaderError) {
        var valid: [String: (addresses: [String], appendsName: Bool)] = [:]
        for (host, all) in addresses {
            let name = try Self.name(ofAddressed: host)
            let normalized = all.compactMap(Self.normalizedAddress)
            guard normalized.count == all.count else { throw .malformedAddress }
            // One host under two spellings would have the addresses of either.
            guard valid.updateValue((normalized, true), forKey: name) == nil else {
                throw .malformedAddressedHost
            }
        }
        for host in hostsWithoutDNS {
            let name = try Self.name(ofAddressed: host)
            guard let own = valid[name] else { throw .malformedAddressedHost }
            valid[name] = (own.addresses, false)
        }
        state.withLock { state in
            state.malformed = Self.faults(of: state.table.ejection)
            state.table.replace(valid)
        }
    }

    private static func name(ofAddressed host: String) throws(DataLoaderError) -> String {
        guard let name = normalized(host), !hasPort(name) else { throw .malformedAddressedHost }
        return name
    }

    /// Throws `.invalidConfiguration` when an address, or a host that has addresses, is malformed.
    public func validate() throws(DataLoaderError) {
        if let fault = state.withLock({ $0.malformed.first }) { throw fault }
    }

    /// The address that a load for the host would use now; the host itself when DNS decides.
    public func address(forHost host: String) -> String {
        guard let key = Self.normalized(host) else { return host }
        let name = state.withLock { state in
            state.table.choice(forHost: key, excluding: [], at: state.timekeeper.now)?.name
        }
        return name == key ? host : name ?? host
    }

    /// Ejects an address, as after a failed connection; prolongs an ejection under way.
    ///
    /// Call it with the result of another check, such as a health check. The call is ignored for an
    /// address that no host lists.
    public func markAddressAsUnreachable(_ address: String) {
        guard let name = Self.normalizedAddress(address) else { return }
        state.withLock { state in
            state.table.eject(name, at: state.timekeeper.now, random: state.random)
        }
    }

    private static func normalizedAddress(_ address: String) -> String? {
        guard UnixSocketAddress.isMeant(by: address) else { return normalized(address) }
        return UnixSocketAddress(address) == nil ? nil : address
    }

    /// The address in the form of a URL's host; nil when it is not an address.
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
    /// The peer that an attempt connects to.
    enum Candidate: Hashable, Sendable {
        /// The host's own name, resolved by DNS.
        case name
        /// An address in the form that a transport takes.
        case address(String)

        /// The name under which this candidate is excluded for a host.
        func exclusion(forHost host: String) -> String {
            switch self {
            case .name: host
            case .address(let address): address
            }
        }
    }

    /// Chooses the peer of an attempt; nil when every candidate of the host is excluded.
    ///
    /// `host` is the URL's, in lower case. `excluded` names the candidates that this load has tried
    /// without success. Every choice must be reported: a probe reserves the address for at most one
    /// minute. Behind a proxy only the sockets of this machine and the name are candidates.
    func choose(
        forHost host: String, excluding excluded: Set<String> = [], isProxied: Bool = false
    ) -> Candidate? {
        state.withLock { state in
            guard !state.table.isEmpty else { return excluded.contains(host) ? nil : .name }
            // The time has a meaning only for addresses that have failed.
            let now =
                state.table.unhealthyCount == 0 ? .distantFuture : state.timekeeper.now
            let choice = state.table.choice(
                forHost: host, excluding: excluded, isProxied: isProxied, at: now)
            guard let (name, isProbe) = choice else { return nil }
            if isProbe { state.table.beginProbe(name, at: now) }
            return name == host ? .name : .address(name)
        }
    }

    /// Records the outcome of an attempt.
    ///
    /// Call it once for each choice, at the attempt's end, with the instant at which it began; nil for
    /// an attempt that never did.
    func report(
        _ candidate: Candidate, forHost host: String, outcome: AddressOutcome,
        begun: Instant? = nil
    ) {
        state.withLock { state in
            guard state.table.concerns(outcome) else { return }
            let name = candidate.exclusion(forHost: host)
            state.table.note(
                outcome, of: name, forHost: host, begun: begun, at: state.timekeeper.now,
                random: state.random)
        }
    }

    /// Takes over a service's clock and randomness, before its first load.
    func adopt(_ timekeeper: any Timekeeper, random: RandomSource) {
        state.withLock { state in
            state.table.rebase(by: timekeeper.now - state.timekeeper.now)
            state.timekeeper = timekeeper
            state.random = random
        }
    }

    /// The addresses of all hosts, and their health.
    package var addressStates: [AddressState] {
        state.withLock { $0.table.states(at: $0.timekeeper.now) }
    }

    /// The number of addresses with a health record.
    var unhealthyCount: Int {
        state.withLock { $0.table.unhealthyCount }
    }
}

extension HostResolver {
    /// The malformed setting that concerns a host: its own, or one without a valid host.
    func malformedSetting(forHost host: String) -> DataLoaderError? {
        state.withLock { $0.malformed.isEmpty ? nil : $0.malformed.concerning(host) }
    }
}
