// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// What is done for the sake of certain versions of libcurl: a file for each quirk, which says on
    /// which versions it was seen, where libcurl's maintainers know of it, and which test fails
    /// without the workaround wherever it is still needed.
    ///
    /// "Seen on" names the versions that continuous integration runs the tests with. Nothing is said
    /// of versions in between unless there is a source for it.
    enum CurlQuirks {}
#endif
