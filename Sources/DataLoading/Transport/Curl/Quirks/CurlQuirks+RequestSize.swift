// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    extension CurlLibrary {
        /// Whether CURLINFO_REQUEST_SIZE counts bodies that libcurl reads by callback.
        ///
        /// Not on 7.88.1, where it counts copied ones only; on 8.14.1 and 8.23.0 it counts them all.
        /// It was made anew in 8.7.0 with libcurl's sending of requests
        /// (https://github.com/curl/curl/issues/13269), which is where the line is drawn here.
        ///
        /// To be let go with libcurl below that: `CurlUploadTests`, "sends bytes of any size".
        var countsBodies: Bool { version >= 0x08_07_00 }
    }
#endif
