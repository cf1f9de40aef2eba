// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct ConnectionTests {
    private let base = testURL("http://origin.test/v1/")

    private func connection(_ bed: TestBed, _ headers: HTTPHeaders = HTTPHeaders()) -> Connection {
        Connection(
            baseURL: base, headers: headers, sourceIdentifier: "people", loader: bed.loader)
    }

    @Test func `a connection sends what a request says, below its base URL`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200, body: Data("[1,2]".utf8)))
        let request = Request<[Int]>(
            Endpoint("people", "a/b", query: ["x": "1+1"]), method: .put, headers: ["A": "1"],
            body: try .json(["name": "x"]))
        let ids = try await connection(bed).send(request.modified { $0.headers["B"] = "2" })
        #expect(ids == [1, 2])
        let sent = bed.transport.attempts[0].request
        #expect(sent.url.absoluteString == "http://origin.test/v1/people/a%2Fb?x=1%2B1")
        #expect(sent.method == .put)
        #expect(sent.headers["A"] == "1")
        #expect(sent.headers["B"] == "2")
        #expect(sent.headers["Content-Type"] == "application/json")
        bed.expectNothingLeft()
    }

    @Test func `the fields of a connection are added where a request has none of the name`()
        async throws
    {
        let bed = TestBed(otherwise: .respond(status: 200))
        var fields: HTTPHeaders = ["Accept": "text/plain", "X-Key": "k"]
        fields.add("a", for: "X-Many")
        fields.add("b", for: "x-many")
        let connection = connection(bed, fields)
        try await connection.send(Request<Void>(Endpoint("a"), headers: ["accept": "image/png"]))
        let sent = bed.transport.attempts[0].request.headers
        #expect(sent.values(for: "Accept") == ["image/png"])
        #expect(sent.values(for: "X-Key") == ["k"])
        #expect(sent.values(for: "X-Many") == ["a", "b"])
    }

    @Test(arguments: [
        ("http://origin.test/other", true), ("http://ORIGIN.test:80/", true),
        ("http://other.test/", false), ("http://origin.test:8080/", false),
        ("https://origin.test/", false),
    ])
    func `the fields of a connection go to the origin of its base URL alone`(
        url: String, isOurs: Bool
    ) async throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        let request = Request<Void>(DataLoaderRequest(url: testURL(url)))
        try await connection(bed, ["X-Key": "c4nary"]).send(request)
        #expect((bed.transport.attempts[0].request.headers["X-Key"] == "c4nary") == isOurs)
    }

    @Test func `a connection names the feature of requests that name none`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        let names = EventRecorder<String?>()
        let request = Request(Endpoint("a")) { names.record($0.request.sourceIdentifier) }
        try await connection(bed).send(request)
        try await connection(bed).send(request.modified { $0.sourceIdentifier = "own" })
        #expect(names.elements == ["people", "own"])
    }

    @Test func `a malformed endpoint throws before anything is sent, and names the connection`()
        async
    {
        let bed = TestBed(otherwise: .respond(status: 200))
        let error = await #expect(throws: DataLoaderError.self) {
            try await connection(bed).send(Request<Void>(Endpoint("people", ""), method: .post))
        }
        #expect(error == .invalidRequest(.pathSegment(index: 1)))
        #expect(error.map { "\($0)".hasPrefix("http://origin.test/v1/ failed: ") } == true)
        #expect(bed.transport.attempts.isEmpty)
    }

    @Test func `a connection keeps its loader`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        let connection = Connection(baseURL: base, loader: bed.factory.makeDataLoader())
        try await connection.send(Request<Void>(Endpoint("a")))
        #expect(bed.transport.attempts.count == 1)
    }

    @Test func `a connection prints no secrets`() {
        let connection = connection(TestBed(), ["X-Key": "c4nary"])
        var dumped = ""
        dump(connection, to: &dumped)
        #expect(!dumped.contains("c4nary"))
        #expect("\(connection)" == "Connection http://origin.test/v1/")
    }
}
