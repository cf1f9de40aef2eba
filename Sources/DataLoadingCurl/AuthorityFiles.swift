// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import CCurl
import Foundation

/// Files in memory with bundles of certificate authorities, for libcurl to read.
///
/// libcurl parses a bundle of bytes anew for each connection, which takes 20 ms for a system's
/// bundle, on a thread of many loads. It parses a file once a day for each multi handle
/// (`CURLOPT_CA_CACHE_TIMEOUT`, https://curl.se/libcurl/c/CURLOPT_CA_CACHE_TIMEOUT.html), and
/// identifies it by its path. A path must never be reused for another bundle, so the files stay
/// open until the process ends.
final class AuthorityFiles: Sendable {
    static let shared = AuthorityFiles()
    /// The maximum number of files; further bundles are passed as bytes.
    static let maxBundles = 32

    private let paths = Locked<[Data: String]>([:])

    /// Returns the path of a bundle's file; nil when it has none and another one cannot be
    /// made.
    func path(of bundle: Data) -> String? {
        paths.withLock { paths in
            if let path = paths[bundle] { return path }
            guard paths.count < Self.maxBundles else { return nil }
            let descriptor = bundle.withUnsafeBytes {
                ccurl_memory_file($0.baseAddress, $0.count)
            }
            guard descriptor >= 0 else { return nil }
            let path = "/proc/self/fd/\(descriptor)"
            // /proc is not mounted everywhere.
            guard access(path, R_OK) == 0 else {
                _ = close(descriptor)
                return nil
            }
            paths[bundle] = path
            return path
        }
    }
}
