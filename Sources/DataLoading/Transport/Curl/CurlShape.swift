// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import Foundation

    /// Everything a handle is set up for but URL and header fields.
    ///
    /// A handle whose next attempt has the same shape is set nothing anew: that is most of what a
    /// small request costs on this side of libcurl.
    struct CurlShape: Equatable {
        enum Upload: Equatable {
            case none
            /// A head that says `Content-Length: 0`.
            case empty
            /// Given to libcurl whole, sent together with the head.
            case copied
            /// Read through a callback; the length when it is known.
            case read(Int64?)
        }

        var method: HTTPMethod
        var upload: Upload
        var address: String?
        var isSecure: Bool
        var streams: Bool
        var isFresh: Bool
        var pins: [String]?
        var certificateAuthorities: Data?
        var url: String
        var headers: HTTPHeaders
    }
#endif
