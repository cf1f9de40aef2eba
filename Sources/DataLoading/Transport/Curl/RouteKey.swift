// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// What decides which connections an attempt may use.
    struct RouteKey: Hashable {
        let host: String
        let port: UInt16
        /// The peer that is dialled instead of the host; nil for the host.
        let address: String?
        let trust: HostTrust?

        // Certificates are left out: equality compares them, where the rest is the same.
        func hash(into hasher: inout Hasher) {
            hasher.combine(host)
            hasher.combine(port)
            hasher.combine(address)
        }
    }
#endif
