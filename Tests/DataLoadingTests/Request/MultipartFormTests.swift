// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// Fields and files in one body.
@Suite struct MultipartFormTests {
    @Test func `a multipart form is laid out as in RFC 7578`() {
        var generator = SeededGenerator(seed: 1)
        var form = MultipartForm(using: &generator)
        form.add("Holiday, é", for: "title")
        form.add(Data("{}".utf8), for: "meta", contentType: "application/json")
        form.add(Data([0, 13, 10, 255]), for: "raw", filename: "raw.bin")
        let line = "--\(form.boundary)"
        let expected = Data(
            """
            \(line)
            Content-Disposition: form-data; name="title"

            Holiday, é
            \(line)
            Content-Disposition: form-data; name="meta"
            Content-Type: application/json

            {}
            \(line)
            Content-Disposition: form-data; name="raw"; filename="raw.bin"


            """.replacingOccurrences(of: "\n", with: "\r\n").utf8)
        #expect(form.bytes == expected + [0, 13, 10, 255] + Data("\r\n\(line)--\r\n".utf8))
    }

    @Test func `a multipart form without parts has only its closing boundary`() {
        let form = MultipartForm()
        #expect(form.bytes == Data("--\(form.boundary)--\r\n".utf8))
    }

    @Test func `a multipart form, a sink and a body print no secrets`() {
        let secret = "s3cret"
        var form = MultipartForm()
        form.add(Data(secret.utf8), for: secret, filename: secret)
        form.add(file: URL(fileURLWithPath: "/\(secret)"), for: "file")
        let sink = ResponseSink.file(URL(fileURLWithPath: "/\(secret)"))
        let body = RequestBody.encoded(Data(secret.utf8), contentType: "a/b")
        for value in [form, RequestBody.multipart(form), sink, body] as [Any] {
            var text = "\(value)" + String(reflecting: value)
            dump(value, to: &text)
            #expect(!text.contains(secret) && !text.contains(form.boundary))
        }
        #expect("\(form) \(sink) \(body)" == "form of 2 parts file encoded of 6 bytes")
    }

    @Test func `a multipart form draws a random boundary that needs no quotes`() {
        let boundaries = (0..<100).map { _ in MultipartForm().boundary }
        #expect(Set(boundaries).count == 100)
        for boundary in boundaries {
            #expect(boundary.utf8.count == 32)
            #expect(boundary.utf8.allSatisfy { $0.isDigit || (0x61...0x7A).contains($0 | 0x20) })
        }
    }

    @Test func `a multipart form escapes quotes and line breaks in names`() {
        var form = MultipartForm()
        form.add(
            Data(), for: "a\"b\r\nc\rd\ne%22",
            filename: "\"; filename=\"x\r\n\r\n--\(form.boundary)--")
        let text = String(decoding: form.bytes, as: UTF8.self)
        #expect(
            text.contains(#"name="a%22b%0D%0Ac%0Dd%0Ae%22"; filename="%22; filename=%22x%0D%0A"#))
        // Only the form's own lines begin with the boundary.
        #expect(text.components(separatedBy: "\r\n--\(form.boundary)").count == 2)
    }

    // A strict parser finds exactly the parts that were added, whatever their names and contents.
    @Test func `a multipart form can be parsed back, whatever its parts contain`() throws {
        try property(cases: min(propertyCases, 2_000)) { generator in
            var form = MultipartForm(using: &generator)
            var expected: [(head: String, content: Data)] = []
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                let name = Self.nastyText(form.boundary, &generator)
                let filename =
                    Bool.random(using: &generator)
                    ? Self.nastyText(form.boundary, &generator) : nil
                // Contents never contain the boundary, which is random.
                let content = Data(Self.nastyText("boundary", &generator).utf8)
                form.add(content, for: name, filename: filename)
                var head = "Content-Disposition: form-data; name=\"\(Self.plain(name))\""
                if let filename { head += "; filename=\"\(Self.plain(filename))\"" }
                expected.append((head, content))
            }
            let found = try Self.parse(form.bytes, boundary: form.boundary)
            guard found.count == expected.count else { return "\(found.count) parts" }
            for (one, other) in zip(found, expected) where one != other {
                return "\(one.head) is not \(other.head)"
            }
            return nil
        }
    }

    private static func nastyText(_ word: String, _ generator: inout SeededGenerator) -> String {
        let pieces = [
            "\r\n", "\n", "\r", "\"", "--", word, "--\(word)--", "a", "é", " ", ";", "%22", ":",
        ]
        return (0..<Int.random(in: 0...8, using: &generator)).map { _ in
            pieces[Int.random(in: pieces.indices, using: &generator)]
        }.joined()
    }

    private static func plain(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
                    let escape = ["\"": "%22", "\r": "%0D", "\n": "%0A"][String(scalar)]
                    return Array((escape ?? String(scalar)).unicodeScalars)
                }))
    }

    private static func parse(
        _ bytes: Data, boundary: String
    ) throws -> [(head: String, content: Data)] {
        var parts: [(String, Data)] = []
        var rest = Data("\r\n".utf8) + bytes
        let delimiter = Data("\r\n--\(boundary)".utf8)
        while true {
            let start = try #require(rest.range(of: delimiter))
            rest = rest[start.upperBound...]
            if rest.elementsEqual("--\r\n".utf8) { return parts }
            let end = try #require(rest.range(of: delimiter))
            let part = rest[rest.startIndex..<end.lowerBound]
            let split = try #require(part.range(of: Data("\r\n\r\n".utf8)))
            let head = part[part.startIndex..<split.lowerBound].dropFirst(2)
            parts.append((String(decoding: head, as: UTF8.self), Data(part[split.upperBound...])))
        }
    }
}
