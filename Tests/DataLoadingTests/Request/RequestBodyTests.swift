// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The kinds of request bodies and their media types.
@Suite struct RequestBodyTests {
    private struct Point: Encodable {
        let x = 1
    }

    private struct Unencodable: Encodable {
        func encode(to encoder: any Encoder) throws { throw CancellationError() }
    }

    @Test func `a form body escapes every byte but letters, digits and four marks`() {
        let every = String(String.UnicodeScalarView((0..<128).compactMap { Unicode.Scalar($0) }))
        let form = RequestBody.form([(name: every, value: "é€😀\r\n")])
        let kept = "*-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
        let name = every.utf8.map { byte -> String in
            let text = String(Unicode.Scalar(byte))
            if byte == 0x20 { return "+" }
            return kept.contains(text) ? text : String(format: "%%%02X", byte)
        }
        let value = "%C3%A9%E2%82%AC%F0%9F%98%80%0D%0A"
        #expect(form.bytes == Data((name.joined() + "=" + value).utf8))
    }

    @Test func `a form body keeps order, repeated names and empty fields`() {
        let literal = RequestBody.form(["b": "1", "a": "2 3", "b": "", "": "&="])
        #expect(literal.bytes == Data("b=1&a=2+3&b=&=%26%3D".utf8))
        #expect(literal.contentType == "application/x-www-form-urlencoded")
        #expect(RequestBody.form([:]).bytes == Data())
    }

    @Test func `a JSON body is encoded when it is made`() throws {
        let body = try RequestBody.json(Point())
        #expect(body.bytes == Data(#"{"x":1}"#.utf8))
        #expect(body.contentType == "application/json")
        let pretty = JSONEncoder()
        pretty.outputFormatting = .prettyPrinted
        #expect(try RequestBody.json(Point(), encoder: pretty).bytes != body.bytes)
        #expect(throws: CancellationError.self) { try RequestBody.json(Unencodable()) }
    }

    @Test func `a body sets its media type unless the caller has set one`() throws {
        let sent = { (body: RequestBody, type: String?) in
            let bed = TestBed(otherwise: .respond(status: 200))
            bed.loader.perform(
                .make { request in
                    request.method = .post
                    request.body = body
                    if let type { request.headers["content-type"] = type }
                })
            bed.settle()
            return bed.transport.attempts.first?.request.headers.values(for: "Content-Type")
        }
        let json = try RequestBody.json(Point())
        #expect(sent(json, nil) == ["application/json"])
        #expect(sent(json, "application/problem+json") == ["application/problem+json"])
        #expect(sent(.form(["a": "b"]), nil) == ["application/x-www-form-urlencoded"])
        let form = MultipartForm()
        #expect(
            sent(.multipart(form), nil) == ["multipart/form-data; boundary=\(form.boundary)"])
        #expect(sent(.data(Data()), nil) == [])
    }

    @Test func `a media type is dropped with its body in a redirect`() {
        for (status, type) in [(303, nil), (307, "application/x-www-form-urlencoded")] {
            let bed = TestBed(
                [.respond(status: status, headers: ["Location": "/b"])],
                otherwise: .respond(status: 200))
            bed.loader.perform(
                .make { request in
                    request.method = .post
                    request.body = .form(["a": "b"])
                })
            bed.settle()
            let second = bed.transport.attempts.last?.request
            #expect(second?.headers["Content-Type"] == type)
            #expect(second?.body?.bytes == (type == nil ? nil : Data("a=b".utf8)))
            #expect(bed.transport.attempts.count == 2)
        }
    }

    @Test func `a media type with line breaks is refused`() {
        for type in ["text/plain\r\nX: y", "a\nb", "a\u{0}"] {
            var form = MultipartForm()
            form.add(Data(), for: "a", contentType: type)
            for body in [RequestBody.encoded(Data(), contentType: type), .multipart(form)] {
                let bed = TestBed()
                bed.loader.perform(
                    .make { request in
                        request.method = .post
                        request.body = body
                    })
                bed.settle()
                #expect(bed.error == .invalidRequest(.headerValue(name: "Content-Type")))
                #expect(bed.transport.attempts.isEmpty)
            }
        }
    }
}
