// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Testing

@Suite struct HTTPHeadersTests {
    @Test func `finds a value whatever the case of its name`() {
        let headers: HTTPHeaders = ["Content-Type": "text/plain"]
        #expect(headers["content-TYPE"] == "text/plain")
        #expect(headers["Content"] == nil)
    }

    @Test func `joins several values and keeps their order`() {
        var headers = HTTPHeaders()
        headers.add("a", for: "Via")
        headers.add("x", for: "Other")
        headers.add("b", for: "via")
        #expect(headers["VIA"] == "a, b")
        #expect(headers.values(for: "Via") == ["a", "b"])
    }

    @Test func `setting replaces every value in the place of the first`() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3", "C": "4"]
        headers["a"] = "9"
        #expect(headers.fields.map(\.value) == ["9", "2", "4"])
        headers["A"] = nil
        #expect(headers.fields.map(\.value) == ["2", "4"])
    }

    @Test func `never shows a value when printed`() {
        let headers: HTTPHeaders = ["Authorization": "Bearer canary"]
        #expect(!"\(headers)".contains("canary"))
        #expect(!"\(headers.fields)".contains("canary"))
    }
}
