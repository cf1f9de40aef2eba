// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension Runtime {
    /// Chooses the peer of an attempt; nil when every candidate of the host is excluded.
    ///
    /// A proxy connects to the server by itself, so that the addresses of a host behind one are not
    /// used. The sockets of this machine are: no proxy leads to them.
    func choosePeer(
        for origin: Origin, excluding excluded: Set<String> = []
    ) -> HostResolver.Candidate? {
        resolver.choose(
            forHost: origin.host, excluding: excluded,
            isProxied: attempts.proxy?.covers(origin) ?? false)
    }

    /// The proxy of an attempt; nil when it connects to its peer directly.
    func proxy(for origin: Origin, _ candidate: HostResolver.Candidate) -> Proxy? {
        guard let proxy = attempts.proxy, candidate == .name, proxy.covers(origin) else {
            return nil
        }
        return proxy
    }
}
