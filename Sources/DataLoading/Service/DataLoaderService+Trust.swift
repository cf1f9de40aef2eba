// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
public import DataLoadingTransport

extension DataLoaderService {
    /// The pins, authorities and client certificates of attempts that start from now on.
    ///
    /// It begins with `Configuration.serverTrustPolicy`; nil is the system's trust.
    public var serverTrustPolicy: ServerTrustPolicy? { runtime.trust.withLock { $0 } }

    /// Replaces the trust policy while loads run, for certificates and keys that rotate.
    ///
    /// ```swift
    /// var policy = ServerTrustPolicy(certificateAuthorities: try Data(contentsOf: bundle))
    /// policy.clientIdentities["api.example.com"] = renewed
    /// try service.setServerTrustPolicy(policy)
    /// ```
    /// Every attempt that starts afterwards uses the new policy: retries, redirects and waiting
    /// loads too. None of them uses a connection that was made with other pins, authorities or
    /// another client certificate for its host. Attempts that run are finished on their
    /// connections. Hosts for which the policy says the same keep their connections. Rates, gates,
    /// addresses and budgets stay as they are.
    ///
    /// - Throws: `.certificate` for a malformed policy. The previous one then stays in use.
    public func setServerTrustPolicy(_ policy: ServerTrustPolicy?) throws(DataLoaderError) {
        try policy?.validate()
        // The previous policy is released after the lock.
        _ = runtime.trust.withLock { trust in
            let previous = trust
            trust = policy
            return previous
        }
    }
}
