// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl
import Foundation

/// Sets options of an easy handle.
struct CurlHandle {
    let easy: OpaquePointer

    func set(_ option: Int32, _ value: Int) throws(DataLoaderError) {
        try check(ccurl_set_long(easy, option, value))
    }

    func set(_ option: Int32, offset: Int64) throws(DataLoaderError) {
        try check(ccurl_set_offset(easy, option, offset))
    }

    /// Sets an option to a string, which libcurl copies.
    func set(_ option: Int32, text: String) throws(DataLoaderError) {
        try check(ccurl_set_pointer(easy, option, text))
    }

    func set(_ option: Int32, pointer: UnsafeRawPointer?) throws(DataLoaderError) {
        try check(ccurl_set_pointer(easy, option, pointer))
    }

    /// Sets an option to bytes, which libcurl copies; returns its result.
    func set(_ option: Int32, blob: Data) -> Int32 {
        blob.withUnsafeBytes { bytes in
            var blob = ccurl_blob(
                data: UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                length: bytes.count, flags: 1)  // CURL_BLOB_COPY
            return ccurl_set_pointer(easy, option, &blob)
        }
    }

    func check(_ result: Int32) throws(DataLoaderError) {
        switch result {
        case 0: return
        case 27: throw .resources(reason: "memory")
        default: throw .unsupported(reason: "libcurl refuses an option (\(result))")
        }
    }
}
