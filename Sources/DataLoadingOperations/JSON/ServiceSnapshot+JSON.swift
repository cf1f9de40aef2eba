// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingCache

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
        json.list("origins", origins, "otherOrigins", otherOrigins, maxEntries) {
            $1.addMembers(to: &$0)
        }
        json.list("rules", rules, "otherRules", otherRules, maxEntries) { $1.addMembers(to: &$0) }
        json.list("addresses", addresses, "otherAddresses", otherAddresses, maxEntries) {
            $1.addMembers(to: &$0)
        }
        json.list("credentials", credentials, "otherCredentials", otherCredentials, maxEntries) {
            $1.addMembers(to: &$0)
        }
        if let sharing {
            json.key("sharing")
            json.object { sharing.addMembers(to: &$0) }
        }
        if let cache {
            json.key("cache")
            json.object { cache.addMembers(to: &$0) }
        }
        guard let transport else { return }
        json.key("transport")
        json.object { transport.addMembers(to: &$0) }
    }
}

extension JSONWriter {
    /// Adds a list of objects, at most so many, and how many are left out besides others.
    fileprivate mutating func list<Element>(
        _ name: StaticString, _ elements: [Element], _ othersName: StaticString, _ others: Int,
        _ limit: Int, _ addMembers: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        array(of: elements.prefix(limit)) { json, element in
            json.object { addMembers(&$0, element) }
        }
        member(othersName, others + max(0, elements.count - limit))
    }
}

extension CredentialState {
    fileprivate func addMembers(to json: inout JSONWriter) {
        json.member("authoriser", authoriser.shown(maxBytes: maxNameBytes))
        json.member("isUsable", isUsable)
        json.member("remaining", seconds: remaining)
        json.member("fetches", fetches)
        json.member("failures", failures)
        json.member("hasFailed", hasFailed)
        json.member("lastFailure", lastFailure?.shown(maxBytes: maxNameBytes))
        json.member("waiting", waiting)
    }
}

extension SharingState {
    fileprivate func addMembers(to json: inout JSONWriter) {
        json.member("source", "\(source)")
        json.member("present", present)
        json.member("known", known)
        json.member("leased", leased)
        json.member("used", used)
        json.member("refused", refused)
    }
}

extension CacheStatistics {
    fileprivate func addMembers(to json: inout JSONWriter) {
        json.member("hits", hits)
        json.member("validated", validated)
        json.member("misses", misses)
        json.member("staleServed", staleServed)
        json.member("bytes", bytes)
        json.member("evicted", evicted)
        json.member("writeFailures", writeFailures)
        json.member("refusesWrites", refusesWrites)
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
        json.member("ejections", ejections)
        json.member("lastFailure", lastFailure)
    }
}
