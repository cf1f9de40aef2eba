// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// A name that a server chose may be longer than anybody reads.
private let maxNameBytes = 160

extension DataLoaderService {
    /// The snapshot as an object with one member, `service`.
    var snapshotJSON: [UInt8] {
        let snapshot = snapshot()
        var json = JSONWriter()
        json.object { json in
            json.key("service")
            json.object { snapshot.addMembers(to: &$0) }
        }
        return json.bytes
    }
}

extension ServiceSnapshot {
    /// Adds the members of the snapshot, by the names of its properties, to the object that is open.
    ///
    /// Durations are in seconds; what is nil is left out. Each list has at most `maxEntries`, and
    /// names are cut at 160 bytes.
    func addMembers(to json: inout JSONWriter, maxEntries: Int = .max) {
        json.member("stage", "\(stage)")
        json.member("liveLoads", liveLoads)
        json.member("waiting", waiting)
        json.member("queueCapacity", queueCapacity)
        json.member("running", running)
        json.member("defaultRequestsPerSecond", defaultRequestsPerSecond)
        json.member("droppedConsumptionNotices", droppedConsumptionNotices)
        json.key("origins")
        json.array(of: origins.prefix(maxEntries)) { json, origin in
            json.object { origin.addMembers(to: &$0) }
        }
        json.member("otherOrigins", otherOrigins + max(0, origins.count - maxEntries))
        json.key("rules")
        json.array(of: rules.prefix(maxEntries)) { json, rule in
            json.object { rule.addMembers(to: &$0) }
        }
        json.member("otherRules", otherRules + max(0, rules.count - maxEntries))
        json.key("addresses")
        json.array(of: addresses.prefix(maxEntries)) { json, address in
            json.object { address.addMembers(to: &$0) }
        }
        json.member("otherAddresses", otherAddresses + max(0, addresses.count - maxEntries))
        json.key("credentials")
        json.array(of: credentials.prefix(maxEntries)) { json, state in
            json.object { state.addMembers(to: &$0) }
        }
        json.member("otherCredentials", otherCredentials + max(0, credentials.count - maxEntries))
        guard let transport else { return }
        json.key("transport")
        json.object { transport.addMembers(to: &$0) }
    }
}

extension CredentialState {
    fileprivate func addMembers(to json: inout JSONWriter) {
        json.member("authoriser", authoriser.shown(maxBytes: maxNameBytes))
        json.member("isUsable", isUsable)
        json.member("remaining", seconds: remaining)
        json.member("fetches", fetches)
        json.member("failures", failures)
        json.member("waiting", waiting)
    }
}

extension TransportSnapshot {
    fileprivate func addMembers(to json: inout JSONWriter) {
        json.member("openConnections", openConnections)
        json.member("runningAttempts", runningAttempts)
        json.member("longestRound", seconds: longestRound)
    }
}

extension OriginState {
    fileprivate func addMembers(to json: inout JSONWriter) {
        json.member("origin", origin.shown(maxBytes: maxNameBytes))
        json.member("waiting", waiting)
        json.member("running", running)
        json.member("limit", limit)
        json.member("retryBudget", retryBudget)
        json.member("isFailing", isFailing)
    }
}

extension RuleState {
    fileprivate func addMembers(to json: inout JSONWriter) {
        json.member("origin", origin.shown(maxBytes: maxNameBytes))
        json.member("pathComponent", pathComponent?.shown(maxBytes: maxNameBytes))
        json.member("requestsPerSecond", requestsPerSecond)
        json.member("burst", burst)
        json.member("gateRemaining", seconds: gateRemaining)
        json.member("admitted", admitted)
        json.member("gateClosings", gateClosings)
    }
}

extension AddressState {
    fileprivate func addMembers(to json: inout JSONWriter) {
        json.member("host", host.shown(maxBytes: maxNameBytes))
        json.member("address", address.shown(maxBytes: maxNameBytes))
        json.member("condition", "\(condition)")
        json.member("ejectionRemaining", seconds: ejectionRemaining)
    }
}
