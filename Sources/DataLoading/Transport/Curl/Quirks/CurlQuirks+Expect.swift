// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    extension CurlQuirks {
        /// The field that asks before a body over HTTP/1.1, which is there always.
        ///
        /// Left to itself libcurl asks for bodies of 1 MiB or more (seen on 7.88.1), or of more than
        /// that (seen on 8.14.1 and 8.23.0); the field alone makes each of them wait for the answer.
        /// Over HTTP/2 libcurl 7.88.1 does not ask of itself, and must not be made to.
        ///
        /// To be let go when no supported libcurl draws the line elsewhere: `CurlExpectTests`,
        /// "the server is asked before bodies of a mebibyte or of unknown length".
        static let expectation = "Expect: 100-continue"
    }
#endif
