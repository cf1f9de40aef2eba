// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

// Quirk: CURLINFO_REQUEST_SIZE counts copied bodies, but not bodies that libcurl reads by
// callback.
//
// Seen on: 7.88.1; 8.14.1 and 8.23.0 count all bodies.
//
// Upstream: 8.7.0 has new code for sending requests
// (https://github.com/curl/curl/issues/13269), which is where `CurlLibrary.countsBodies` draws
// the line.
//
// Remove with support for libcurl below 8.7.0, when this test passes without it:
// `CurlUploadTests`, "a body of any size is sent".

extension CurlTransfer {
    /// Returns the bytes of the request's head that were sent.
    func headBytesSent(_ task: CurlTask, bodyBytesSent: Int64) -> Int64 {
        let size = Int64(requestSize)
        if loop.library.countsBodies { return max(0, size - bodyBytesSent) }
        guard shape?.upload == .copied, let data = task.request.body?.bytes,
            data.count <= Self.copiedBodySize
        else { return size }
        // The size of the head includes copied bodies.
        return max(0, size - Int64(data.count))
    }
}
