// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Where the response of a load came from.
public enum ResponseSource: String, Hashable, Sendable {
    /// The server has sent it to this load.
    case network
    /// It was stored, and is fresh.
    case cache
    /// It was stored, and the server has confirmed it for this load.
    case validated
    /// It was stored, and is older than it says that it is fresh: the request allows that, the
    /// server is asked meanwhile, or it cannot answer.
    case stale
    /// It was sent for another load that shares it; that load counts the bytes.
    case coalesced
    /// An interceptor has made it.
    case interceptor
}
