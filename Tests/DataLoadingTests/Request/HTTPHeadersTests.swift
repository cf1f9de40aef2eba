// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Testing

@Suite struct HTTPHeadersTests {
    @Test func `a header is found whatever the case of its name`() {
        let headers: HTTPHeaders = ["Content-Type": "text/plain"]
        #expect(headers["content-TYPE"] == "text/plain")
        #expect(headers["Content"] == nil)
        #expect(headers.contains("CONTENT-type"))
    }

    @Test func `several values of a header are joined in order`() {
        var headers = HTTPHeaders()
        headers.add("a", for: "Via")
        headers.add("x", for: "Other")
        headers.add("b", for: "via")
        #expect(headers["VIA"] == "a, b")
        #expect(headers.values(for: "Via") == ["a", "b"])
        #expect(headers.fields.map(\.name) == ["Via", "Other", "via"])
    }

    @Test func `setting a header replaces all its values at the first one's position`() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3", "C": "4"]
        headers["a"] = "9"
        #expect(headers.fields.map(\.value) == ["9", "2", "4"])
        headers["A"] = nil
        #expect(headers.fields.map(\.value) == ["2", "4"])
        headers["D"] = ""
        #expect(headers["d"] == "")
        headers["Missing"] = nil
        #expect(headers.fields.count == 3)
    }

    // Only ASCII letters have a case here: the Kelvin sign is not a k.
    @Test func `header names ignore case only within ASCII`() {
        let headers: HTTPHeaders = ["\u{212A}ey": "1"]
        #expect(headers["key"] == nil)
        #expect(headers["\u{212A}ey"] == "1")
    }

    @Test func `headers are equal by order, values and names without case`() {
        let headers: HTTPHeaders = ["A": "1", "b": "2"]
        #expect(headers == ["a": "1", "B": "2"])
        #expect(headers.hashValue == (["a": "1", "B": "2"] as HTTPHeaders).hashValue)
        #expect(headers != ["b": "2", "A": "1"])
        #expect(headers != ["A": "1"])
        #expect(headers != ["A": "1", "b": "x"])
    }

    @Test func `headers agree with a list of pairs under random changes`() {
        property(cases: propertyCases / 10) { generator in
            var headers = HTTPHeaders()
            var model: [(name: String, value: String)] = []
            let names = ["a", "A", "b", "B", "c"]
            for step in 0..<20 {
                let name = names.randomElement(using: &generator) ?? "a"
                let isSame = { (other: (name: String, value: String)) in
                    other.name.lowercased() == name.lowercased()
                }
                switch Int.random(in: 0..<3, using: &generator) {
                case 0:
                    headers.add("\(step)", for: name)
                    model.append((name, "\(step)"))
                case 1:
                    headers[name] = "\(step)"
                    if let first = model.firstIndex(where: isSame) {
                        model[first] = (name, "\(step)")
                        let rest = model[(first + 1)...].filter { !isSame($0) }
                        model = model[...first] + rest
                    } else {
                        model.append((name, "\(step)"))
                    }
                default:
                    headers[name] = nil
                    model.removeAll(where: isSame)
                }
                if headers.fields.map(\.name) != model.map(\.name) { return "names" }
                if headers.fields.map(\.value) != model.map(\.value) { return "values" }
                if headers.values(for: name) != model.filter(isSame).map(\.value) { return "of" }
            }
            return nil
        }
    }

    @Test func `headers print no values`() {
        let headers: HTTPHeaders = ["Authorization": "Bearer canary"]
        #expect(!"\(headers)".contains("canary"))
        #expect(!"\(headers.fields)".contains("canary"))
        #expect(!String(reflecting: headers).contains("canary"))
    }
}
