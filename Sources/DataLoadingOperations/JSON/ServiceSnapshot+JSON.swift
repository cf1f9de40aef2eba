// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

extension ServiceSnapshot {
    /// Adds the members of the snapshot, by the names of its properties, to the object that is open.
    ///
    /// Durations are in seconds; what is nil is left out.
    func addMembers(to json: inout JSONWriter) {
        json.member("stage", "\(stage)")
        json.member("liveLoads", liveLoads)
        json.member("waiting", waiting)
        json.member("queueCapacity", queueCapacity)
        json.member("running", running)
        json.member("defaultRequestsPerSecond", defaultRequestsPerSecond)
        json.member("droppedConsumptionNotices", droppedConsumptionNotices)
        json.key("origins")
        json.array(of: origins) { json, origin in json.object { origin.addMembers(to: &$0) } }
        json.member("otherOrigins", otherOrigins)
        json.key("rules")
        json.array(of: rules) { json, rule in json.object { rule.addMembers(to: &$0) } }
        json.member("otherRules", otherRules)
        json.key("addresses")
        json.array(of: addresses) { json, address in json.object { address.addMembers(to: &$0) } }
        json.member("otherAddresses", otherAddresses)
        json.key("credentials")
        json.array(of: credentials) { json, state in json.object { state.addMembers(to: &$0) } }
        json.member("otherCredentials", otherCredentials)
        guard let transport else { return }
        json.key("transport")
        json.object { transport.addMembers(to: &$0) }
    }
}

extension CredentialState {
    fileprivate func addMembers(to json: inout JSONWriter) {
        json.member("authoriser", authoriser)
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
        json.member("origin", origin)
        json.member("waiting", waiting)
        json.member("running", running)
        json.member("limit", limit)
        json.member("retryBudget", retryBudget)
        json.member("isFailing", isFailing)
    }
}

extension RuleState {
    fileprivate func addMembers(to json: inout JSONWriter) {
        json.member("origin", origin)
        json.member("pathComponent", pathComponent)
        json.member("requestsPerSecond", requestsPerSecond)
        json.member("burst", burst)
        json.member("gateRemaining", seconds: gateRemaining)
        json.member("admitted", admitted)
        json.member("gateClosings", gateClosings)
    }
}

extension AddressState {
    fileprivate func addMembers(to json: inout JSONWriter) {
        json.member("host", host)
        json.member("address", address)
        json.member("condition", "\(condition)")
        json.member("ejectionRemaining", seconds: ejectionRemaining)
    }
}
