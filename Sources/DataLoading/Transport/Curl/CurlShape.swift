// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import Foundation

    /// What a handle is set up for.
    ///
    /// A handle whose next attempt has the same shape is set nothing anew: that is most of what a
    /// small request costs on this side of libcurl. A class, because comparing is all that is done.
    final class CurlShape {
        enum Upload: Equatable {
            case none
            /// A head that says `Content-Length: 0`.
            case empty
            /// Given to libcurl whole, sent together with the head.
            case copied
            /// Read through a callback; the length when it is known.
            case read(Int64?)
        }

        let method: HTTPMethod
        let upload: Upload
        let address: String?
        let isSecure: Bool
        let streams: Bool
        let isFresh: Bool
        let certificateAuthorities: Data?
        /// Those of the URL's host.
        let pins: [String]?
        var url: String
        var headers: HTTPHeaders

        init(_ task: CurlTask, url: String, origin: Origin, isFresh: Bool, upload: Upload) {
            method = task.request.method
            self.upload = upload
            address = task.request.address
            isSecure = origin.isSecure
            streams = task.request.streamsResponse
            self.isFresh = isFresh
            certificateAuthorities = task.request.serverTrustPolicy?.certificateAuthorities
            pins = task.request.serverTrustPolicy?.pinnedPublicKeys[origin.host]
            self.url = url
            headers = task.request.headers
        }

        /// Whether an attempt needs nothing but another URL or other fields.
        func suits(_ task: CurlTask, origin: Origin, isFresh: Bool, upload: Upload) -> Bool {
            self.upload == .none && upload == .none && method == task.request.method
                && isSecure == origin.isSecure && streams == task.request.streamsResponse
                && self.isFresh == isFresh && address == task.request.address
                && trusts(task.request.serverTrustPolicy, origin)
        }

        private func trusts(_ policy: ServerTrustPolicy?, _ origin: Origin) -> Bool {
            guard let policy else { return certificateAuthorities == nil && pins == nil }
            return pins == policy.pinnedPublicKeys[origin.host]
                && Self.isSame(certificateAuthorities, policy.certificateAuthorities)
        }

        /// Equality that does not read a bundle of authorities anew for each attempt.
        private static func isSame(_ left: Data?, _ right: Data?) -> Bool {
            guard let left, let right, left.count == right.count else { return left == right }
            let isShared = left.withUnsafeBytes { bytes in
                right.withUnsafeBytes { $0.baseAddress == bytes.baseAddress }
            }
            return isShared || left == right
        }
    }
#endif
