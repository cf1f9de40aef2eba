// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

// Quirk: where streams of HTTP/2 share a connection, libcurl may lose a piece of a body. What
// follows moves up, and the body ends too early by as much. By reading of lib/http2.c of that
// time: a DATA frame that does not fit in the buffer of its transfer waits in that of the
// connection, and where another transfer has libcurl read on meanwhile, the next frame takes its
// place.
//
// Seen on: 7.88.1, in three of 98,000 mixed loads of a scene with files of 1.3 MB, uploads, and
// an nginx that was reloaded and killed; in none of 111,000 with this code.
//
// Upstream: https://github.com/curl/curl/issues/10525 and
// https://github.com/curl/curl/pull/10529, whose mend is in 7.88.1. 8.1.0 has another buffer
// there.
//
// Applies where not `CurlLibrary.keepsPieces`. A larger buffer makes it rare. The rest is found
// by the length of the body, which is then loaded again as a whole: a range from where it broke
// off would hide the loss. A body without a length and without a coding is not safe there.
//
// Remove with support for libcurl below 8.1.0: `RealServerTests`; `ResumeTests`, "a body
// that may lack a piece is loaded again as a whole".

extension CurlTransfer {
    /// Whether the response's body may lack a piece.
    var mayLosePieces: Bool {
        state.response.minorVersion == nil && !loop.library.keepsPieces
    }

    /// The size of libcurl's buffer, in bytes: small, as many transfers may run.
    func bufferSize(_ shape: CurlShape) -> Int {
        // The maximum of 7.88.1. The system gives pages only where they are written to.
        if shape.isHTTP2, !loop.library.keepsPieces { return 524_288 }
        return shape.streams ? 65_536 : 16_384
    }
}
