// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl

// Quirk: where streams of HTTP/2 share a connection, libcurl may lose a piece of a body, or
// overwrite it with what else the connection carries. By reading of lib/http2.c of that time: a
// DATA frame that does not fit in the buffer of its transfer waits in that of the connection. No
// transfer reads on meanwhile; but at the end of an upload that had no length, or that libcurl ends
// because of a response from status 300 on, libcurl continues with what it has read
// (`http2_data_done_send`). The next frame takes the place of the one that waits, so that the body
// ends too early by as much; or the stream ends with it, so that the next read writes over it, and
// the body keeps its length.
//
// Seen on: 7.88.1. Pieces were lost in three of 98,000 mixed loads of a scene with files of 1.3
// MB, uploads, and an nginx that was reloaded and killed. A WINDOW_UPDATE of lighttpd's lay in one
// body of 26,000, of 86,890 bytes, whose transfer had a buffer of 16,384 bytes.
//
// Upstream: https://github.com/curl/curl/issues/10525 and
// https://github.com/curl/curl/pull/10529, whose mend is in 7.88.1. 8.1.0 has another buffer
// there.
//
// Applies where not `CurlLibrary.keepsPieces`. Uploads without a length go over HTTP/1.1. A larger
// buffer makes it rare that a frame waits: where libcurl would refuse it, because the handle has
// kept a buffer, the handle is replaced. What is lost is found by the length of the body, which is
// then loaded again as a whole: a range from where it broke off would hide the loss.
//
// Not covered: a body of more than 524,288 bytes that comes in one go, while another response, from
// status 300 on, ends an upload on the connection early. To continue such an upload
// (CURLOPT_KEEP_SENDING_ON_ERROR) would cost responses without a length, which libcurl then drops
// with the end of their stream.
//
// Remove with support for libcurl below 8.1.0: `RealServerTests`; `ResumeTests`, "a body
// that may lack a piece is loaded again as a whole"; `CurlPiecesTests`.

extension CurlTransfer {
    /// Whether the response's body may lack a piece.
    var mayLosePieces: Bool {
        state.response.minorVersion == nil && !loop.library.keepsPieces
    }

    /// Whether the end of the upload makes libcurl continue although a frame waits.
    var uploadMayCostPieces: Bool { !loop.library.keepsPieces && uploadKind == .read(nil) }

    /// Whether the handle has kept a buffer, so that libcurl would use a small part of it.
    func refusesLargeBuffer(_ shape: CurlShape) -> Bool {
        needsLargeBuffer(shape)
            && ccurl_set_long(easy, CurlOption.bufferSize, Self.largeBufferSize) != 0
    }

    /// Sets the size of libcurl's buffer: small, as many transfers may run.
    ///
    /// libcurl refuses a size (43) while the handle has a buffer, which it keeps after a transfer
    /// whose connection others still use. Its own size then remains, 16,384 bytes.
    func setBufferSize(_ shape: CurlShape) throws(DataLoaderError) {
        if needsLargeBuffer(shape) { return try set(CurlOption.bufferSize, Self.largeBufferSize) }
        _ = ccurl_set_long(easy, CurlOption.bufferSize, shape.streams ? 32_768 : 16_384)
    }

    // The maximum of 7.88.1. The system gives pages only where they are written to.
    private static let largeBufferSize = 524_288

    private func needsLargeBuffer(_ shape: CurlShape) -> Bool {
        shape.isHTTP2 && !loop.library.keepsPieces
    }
}
