// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl
    import Foundation

    /// Bundles of certificate authorities as files that exist in memory alone.
    ///
    /// libcurl reads a bundle that it is given as bytes anew for each connection, which for a
    /// system's bundle takes 20 ms of the one thread that serves every load. A file it reads once a
    /// day for each multi handle (`CURLOPT_CA_CACHE_TIMEOUT`, https://curl.se/libcurl/c/CURLOPT_CA_CACHE_TIMEOUT.html),
    /// and knows it again by its path. That path must never come to mean another bundle: a file stays
    /// open for as long as the process lives.
    final class AuthorityFiles: Sendable {
        static let shared = AuthorityFiles()
        /// The most bundles; further ones are given as bytes.
        static let most = 32

        private let paths = Locked<[Data: String]>([:])

        /// The path of a bundle's file; nil when there is none, and there are too many for another.
        func path(of bundle: Data) -> String? {
            paths.withLock { paths in
                if let path = paths[bundle] { return path }
                guard paths.count < Self.most else { return nil }
                let descriptor = bundle.withUnsafeBytes {
                    ccurl_memory_file($0.baseAddress, $0.count)
                }
                guard descriptor >= 0 else { return nil }
                let path = "/proc/self/fd/\(descriptor)"
                // Where /proc is not mounted.
                guard access(path, R_OK) == 0 else {
                    _ = close(descriptor)
                    return nil
                }
                paths[bundle] = path
                return path
            }
        }
    }
#endif
