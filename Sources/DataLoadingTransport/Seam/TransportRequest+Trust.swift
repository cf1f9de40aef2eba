// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension TransportRequest {
    /// Returns the trust for an origin, as every transport must look it up; nil for plain http, and
    /// without a policy and an identity.
    package func trust(for origin: Origin) -> HostTrust? {
        guard origin.isSecure else { return nil }
        let trust = serverTrustPolicy?.trust(forHost: origin.host)
        guard let clientIdentity else { return trust }
        var shown = trust ?? HostTrust()
        shown.identity = clientIdentity
        return shown
    }
}
