// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import Testing

    // https://curl.se/libcurl/c/CURLOPT_RESOLVE.html: a line with "-" removes an entry.
    @Suite struct PermanentNameEntriesTests {
        @Test func `each new name beyond the limit removes the oldest entry`() {
            var names = PermanentNameEntries()
            for number in 0..<PermanentNameEntries.limit {
                let lines = names.lines("host\(number):80", addresses: "10.0.0.1,[::1]")
                #expect(lines == ["host\(number):80:10.0.0.1,[::1]"])
            }
            #expect(names.lines("host1:80", addresses: "10.0.0.2") == ["host1:80:10.0.0.2"])
            let lines = names.lines("new:80", addresses: "10.0.0.3")
            #expect(lines == ["-host0:80", "new:80:10.0.0.3"])
            #expect(names.lines("new:443", addresses: "10.0.0.3").first == "-host1:80")
        }
    }
#endif
