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
    /// The number of loops by default.
    static var usualLoops: Int {
        #if canImport(Glibc) || canImport(Musl)
            LoopCount.usual
        #else
            1
        #endif
    }

    /// Makes the transport; it keeps as many connections as loads may run, since each may need its
    /// own.
    static func make(_ limits: Limits, loops: Int) -> any Transport {
        #if canImport(Glibc) || canImport(Musl)
            CurlTransport(
                idleConnectionLimit: idleConnectionLimit(limits, loops: loops), loops: loops)
        #else
            URLSessionTransport()
        #endif
    }

    /// Returns how many connections several loops keep, each of which keeps those of any origin.
    static func idleConnectionLimit(_ limits: Limits, loops: Int) -> Int {
        let perLoop = min(limits.perOrigin, limits.total)
        let (all, overflow) = perLoop.multipliedReportingOverflow(by: loops)
        return max(limits.total, overflow ? 0 : min(all, Limits.slotRange.upperBound))
    }
}
