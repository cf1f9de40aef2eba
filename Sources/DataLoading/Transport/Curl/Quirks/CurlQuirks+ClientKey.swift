// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    extension CurlQuirks {
        /// Whether a result 43, which stands for a wrong argument, is about a client's private key.
        ///
        /// Seen on 8.23.0; 7.88.1 and 8.14.1 have 58 for a key that cannot be read or belongs to another
        /// certificate, which stands for a bad client certificate. Since 8.16.0, with
        /// https://github.com/curl/curl/pull/18081, as 8.21.0's lib/vtls/openssl.c has it.
        ///
        /// To be let go when it is 58 again: `ServerTrustTests`, "sends nothing with an identity that is
        /// wrong or cannot be read".
        static func isClientKey(_ text: String) -> Bool {
            text.contains("unable to set private key")
        }
    }
#endif
