// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// Quirk: libcurl refuses a transfer coding that it did not ask for before the field's line
// reaches `ResponseGuard`, with the result 61 of a broken content coding. It leaves content
// codings to the transport.
//
// Seen on: 8.14.1 and 8.23.0; not on 7.88.1.
//
// Upstream: no upstream report known.
//
// Remove when this test passes without it on every supported version: `CurlGuardTests`, "a
// response with ambiguous framing is refused".

extension CurlErrors {
    /// Returns whether the text of a result 61 is about a transfer coding.
    static func isTransferCoding(_ text: String) -> Bool {
        text.contains("Transfer-Encoding")
    }
}
