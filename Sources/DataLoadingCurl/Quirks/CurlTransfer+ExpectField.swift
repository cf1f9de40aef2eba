// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// Quirk: libcurl asks with Expect before bodies of 1 MiB or more on 7.88.1, and before bodies
// of more than 1 MiB on 8.14.1 and 8.23.0. Only the field itself makes all of them wait for the
// answer. Over HTTP/2 libcurl 7.88.1 does not ask by default, and must not be made to.
//
// Seen on: 8.14.1 and 8.23.0, on which the test below fails without the code, and 7.88.1, on
// which it passes.
//
// Upstream: no upstream report known.
//
// Remove when this test passes without it on every supported version: `CurlExpectTests`,
// "Expect is sent before bodies of 1 MiB or of unknown length".

extension CurlTransfer {
    /// The field that makes libcurl wait for a 100 over HTTP/1.1.
    static let expectation = "Expect: 100-continue"
}
