// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

extension FeedConfiguration: Decodable {
    private enum Key: String, CodingKey, CaseIterable {
        case features, rates, addresses, token, timeouts, retries
    }

    private enum RatesKey: String, CodingKey, CaseIterable {
        case `default`, urls
    }

    private enum TimeoutsKey: String, CodingKey, CaseIterable {
        case connect, idle, total
    }

    /// Decodes what a file may contain; throws for unknown keys and for values out of range.
    init(from decoder: any Decoder) throws {
        self.init()
        let fields = try Fields<Key>(decoder)
        credential = try fields.optional(.token) ?? .none
        features = try fields.list(.features)
        try checkFeatures(fields)
        if let rates = try fields.object(.rates, RatesKey.self) { try readRates(rates) }
        if let hosts = try fields.object(.addresses, AnyKey.self) { try readAddresses(hosts) }
        if let limits = try fields.object(.timeouts, TimeoutsKey.self) {
            timeouts.connect = try limits.seconds(.connect) ?? timeouts.connect
            timeouts.idle = try limits.seconds(.idle) ?? timeouts.idle
            timeouts.total = try limits.seconds(.total) ?? timeouts.total
        }
        if let number = try fields.number(.retries, in: 0...100) {
            guard number == number.rounded() else {
                throw fields.error(.retries, "must be a whole number")
            }
            retries = Int(number)
        }
    }

    private func checkFeatures(_ fields: Fields<Key>) throws {
        for (index, feature) in features.enumerated() {
            let place = fields.path(.features, AnyKey(index))
            guard !features[..<index].contains(where: { $0.name == feature.name }) else {
                throw DecodingError.flaw(
                    place + [AnyKey("name")], "is the name of another feature, \"\(feature.name)\"")
            }
            for (number, url) in feature.urls.enumerated() where feature.isAuthorised {
                guard let flaw = credential.flaw(for: url) else { continue }
                throw DecodingError.flaw(place + [AnyKey("urls"), AnyKey(number)], flaw)
            }
        }
    }

    private mutating func readRates(_ fields: Fields<RatesKey>) throws {
        let range = 0.0...1_000_000
        defaultRate = try fields.number(.default, in: range)
        guard let urls = try fields.object(.urls, AnyKey.self) else { return }
        for key in urls.keys {
            let (url, flaw) = WebURL.read(key.stringValue)
            guard let url else { throw urls.error(key, flaw) }
            guard let rate = try urls.number(key, in: range) else { continue }
            rates.append(Rate(url: url, requestsPerSecond: rate))
        }
    }

    private mutating func readAddresses(_ fields: Fields<AnyKey>) throws {
        // A resolver of its own shows which addresses and hosts the library accepts.
        func isUsable(_ address: String, forHost host: String) -> Bool {
            let resolver = HostResolver()
            resolver.setAddresses([address], forHost: host)
            return (try? resolver.validate()) != nil
        }
        var hosts: Set<String> = []
        // In an order, so that the same key is reported each time.
        for key in fields.keys.sorted(by: { $0.stringValue < $1.stringValue }) {
            guard hosts.insert(key.stringValue.lowercased()).inserted else {
                throw fields.error(key, "is a host that is here in another spelling too")
            }
            guard isUsable("127.0.0.1", forHost: key.stringValue) else {
                throw fields.error(key, "is not a host name without a port")
            }
            let list = try fields.list(key, of: Text.self).map(\.text)
            for (index, address) in list.enumerated()
            where !isUsable(address, forHost: key.stringValue) {
                let flaw = "must be a name, 10.0.0.1 or [::1], with or without :port"
                throw DecodingError.flaw(fields.path(key, AnyKey(index)), flaw)
            }
            addresses[key.stringValue] = list
        }
    }
}

extension FeedConfiguration.Credential {
    /// Why a request to this URL would be sent without the token; nil if it would be sent with it.
    fileprivate func flaw(for url: URL) -> String? {
        guard case .token(_, let hosts) = self else {
            return "belongs to an authorised feature, and there is no token"
        }
        let (host, port) = (url.host()?.lowercased() ?? "", url.port ?? 443)
        let names = ["\(host):\(port)", "\(host):*"] + (port == 443 ? [host] : [])
        guard names.contains(where: hosts.contains) else {
            return "has a host that is not in token.hosts"
        }
        return url.scheme?.lowercased() == "https" ? nil : "must be https, as the token is sent"
    }
}
