// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What carries requests when a configuration names nothing.
enum DefaultTransport {
    /// Makes it; as many connections are kept as loads may run, since each may want its own again.
    static func make(_ limits: Limits) -> any Transport {
        #if canImport(Glibc) || canImport(Musl)
            CurlTransport(idleConnectionLimit: limits.total)
        #else
            URLSessionTransport()
        #endif
    }
}
