// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingCurl
#else
    import DataLoadingURLSession
#endif

/// The transport of a configuration that sets none.
enum DefaultTransport {
    /// Makes the transport; it keeps as many connections as loads may run, since each may need its
    /// own.
    static func make(_ limits: Limits) -> any Transport {
        #if canImport(Glibc) || canImport(Musl)
            CurlTransport(idleConnectionLimit: limits.total)
        #else
            URLSessionTransport()
        #endif
    }
}
