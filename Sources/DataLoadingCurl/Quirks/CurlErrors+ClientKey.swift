// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// Quirk: a client's private key that cannot be read, or that belongs to another certificate,
// gives result 43 (a wrong argument) and not 58 (a bad client certificate).
//
// Seen on: 8.23.0; 7.88.1 and 8.14.1 give 58.
//
// Upstream: https://github.com/curl/curl/pull/18081, in 8.16.0 and later, which is the code of
// lib/vtls/openssl.c in 8.21.0.
//
// Remove when this test passes without it on every supported version: `ServerTrustTests`,
// "nothing is sent with an identity that is wrong or unreadable".

extension CurlErrors {
    /// Returns whether the text of a result 43 is about a client's private key.
    static func isClientKey(_ text: String) -> Bool {
        text.contains("unable to set private key")
    }
}
