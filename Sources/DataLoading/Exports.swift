// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// HTTP's words and the engine of the platform come with the runtime.
@_exported public import DataLoadingCache
@_exported public import DataLoadingTransport

#if canImport(Glibc) || canImport(Musl)
    @_exported public import DataLoadingCurl
#endif
#if canImport(Darwin) || URLSession
    @_exported public import DataLoadingURLSession
#endif
