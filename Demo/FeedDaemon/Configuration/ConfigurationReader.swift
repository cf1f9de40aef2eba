// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// Turns the tree of a configuration file into a configuration, and stops at the first mistake.
enum ConfigurationReader {
    static func read(_ node: JSONNode) throws(Misreading) -> FeedConfiguration {
        let fields = try ObjectFields(
            node, of: "the configuration",
            keys: ["features", "rates", "addresses", "token", "timeouts", "retries"])
        var configuration = FeedConfiguration()
        if let token = fields["token"] { configuration.credential = try credential(token) }
        for node in try fields.required("features").elements("\"features\"") {
            let feature = try feature(node, configuration.credential)
            guard !configuration.features.contains(where: { $0.name == feature.name }) else {
                throw node.mistake("there are two features with the name \"\(feature.name)\"")
            }
            configuration.features.append(feature)
        }
        if let rates = fields["rates"] { try readRates(rates, into: &configuration) }
        for member in try fields["addresses"]?.members("\"addresses\"") ?? [] {
            configuration.addresses[member.key] = try addresses(member)
        }
        if let timeouts = fields["timeouts"] {
            configuration.timeouts = try self.timeouts(timeouts)
        }
        if let retries = fields["retries"] {
            let number = try retries.number("\"retries\"", in: 0...100)
            guard number == number.rounded() else {
                throw retries.mistake("\"retries\" must be a whole number")
            }
            configuration.retries = Int(number)
        }
        return configuration
    }

    private static func readRates(
        _ node: JSONNode, into configuration: inout FeedConfiguration
    ) throws(Misreading) {
        let fields = try ObjectFields(node, of: "\"rates\"", keys: ["default", "urls"])
        configuration.defaultRate = try fields["default"]?.rate("the default rate")
        for member in try fields["urls"]?.members("the rates of \"urls\"") ?? [] {
            let key = JSONNode(position: member.position, value: .string(member.key))
            let url = try key.url("\"\(member.key)\"")
            let rate = try member.value.rate("the rate of \"\(member.key)\"")
            configuration.rates.append(FeedConfiguration.Rate(url: url, requestsPerSecond: rate))
        }
    }

    private static func addresses(_ member: JSONNode.Member) throws(Misreading) -> [String] {
        // The resolver ignores what it cannot use; a scratch one shows beforehand what that is.
        func isUsable(_ address: String, forHost host: String) -> Bool {
            let resolver = HostResolver()
            resolver.setAddresses([address], forHost: host)
            return resolver.address(forHost: host) == address.lowercased()
        }
        guard isUsable("127.0.0.1", forHost: member.key) else {
            throw Misreading(member.position, "\"\(member.key)\" is no host name")
        }
        var addresses: [String] = []
        for node in try member.value.elements("the addresses of \"\(member.key)\"") {
            let address = try node.text("an address")
            guard isUsable(address, forHost: member.key) else {
                throw node.mistake(
                    "\"\(address)\" is no address; it may be a name, 10.0.0.1 or [::1], with :port")
            }
            addresses.append(address)
        }
        return addresses
    }

    private static func timeouts(_ node: JSONNode) throws(Misreading) -> Timeouts {
        let fields = try ObjectFields(
            node, of: "\"timeouts\"", keys: ["connect", "idle", "total"])
        var timeouts = Timeouts()
        if let time = fields["connect"] { timeouts.connect = try time.seconds("\"connect\"") }
        if let time = fields["idle"] { timeouts.idle = try time.seconds("\"idle\"") }
        if let time = fields["total"] { timeouts.total = try time.seconds("\"total\"") }
        return timeouts
    }
}

extension JSONNode {
    /// Requests per second; zero pauses.
    fileprivate func rate(_ what: String) throws(Misreading) -> Double {
        try number(what, in: 0...1_000_000)
    }
}
