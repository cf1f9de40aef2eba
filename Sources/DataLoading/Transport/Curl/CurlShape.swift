// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

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
        let isHTTP2: Bool
        /// What holds for the URL's host; nil for plain http and without a policy.
        let trust: HostTrust?
        var url: String
        var headers: HTTPHeaders

        init(
            _ task: CurlTask, url: String, origin: Origin, isFresh: Bool, isHTTP2: Bool,
            upload: Upload
        ) {
            method = task.request.method
            self.upload = upload
            address = task.request.address
            isSecure = origin.isSecure
            streams = task.request.streamsResponse
            self.isFresh = isFresh
            self.isHTTP2 = isHTTP2
            trust = task.request.trust(for: origin)
            self.url = url
            headers = task.request.headers
        }

        /// Whether an attempt needs nothing but another URL or other fields.
        func suits(
            _ task: CurlTask, origin: Origin, isFresh: Bool, isHTTP2: Bool, upload: Upload
        ) -> Bool {
            self.upload == .none && upload == .none && method == task.request.method
                && isSecure == origin.isSecure && streams == task.request.streamsResponse
                && self.isFresh == isFresh && self.isHTTP2 == isHTTP2
                && address == task.request.address
                && trust == task.request.trust(for: origin)
        }
    }
#endif
