// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What carries requests when a configuration names nothing.
enum DefaultTransport {
    static func make() -> any Transport {
        #if canImport(Glibc) || canImport(Musl)
            CurlTransport()
        #else
            UnavailableTransport()
        #endif
    }
}
