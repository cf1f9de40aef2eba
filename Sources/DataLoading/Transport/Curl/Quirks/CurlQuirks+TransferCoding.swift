// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    extension CurlQuirks {
        /// Whether a result 61, which stands for a broken content coding, is about framing.
        ///
        /// libcurl refuses a transfer coding that it did not ask for before its line comes to our
        /// own guard: seen on 8.14.1 and 8.23.0, not on 7.88.1. Content codings libcurl leaves to us.
        ///
        /// To be let go when the line comes to the guard: `CurlGuardTests`, "refuses framing that two
        /// readers could take differently".
        static func isTransferCoding(_ text: String) -> Bool {
            text.contains("Transfer-Encoding")
        }
    }
#endif
