// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct RequestTests {
    private struct Item: Codable, Equatable {
        struct Part: Codable, Equatable { let name: String }

        let parts: [Part]
        var notes: [String: Int]?
    }

    private struct Gone: Error, Equatable {
        let body: String
    }

    private static let json = #"{"parts":[{"name":"x"}]}"#
    private let item = Item(parts: [Item.Part(name: "x")])

    private func bed(_ status: Int, _ body: String = json) -> TestBed {
        TestBed(otherwise: .respond(status: status, body: Data(body.utf8)))
    }

    private func request<Value: Decodable>(_ type: Value.Type = Item.self) -> Request<Value> {
        Request(DataLoaderRequest.make("/items?key=c4nary"))
    }

    @Test func `a request for a decodable value is decoded from JSON`() async throws {
        let bed = bed(200)
        #expect(try await bed.loader.value(for: request()) == item)
        bed.expectNothingLeft()
    }

    @Test func `a request takes any decoder`() async throws {
        let list = try PropertyListEncoder().encode(item)
        let bed = TestBed(otherwise: .respond(status: 200, body: list))
        let plain = Request<Item>(.make(), decoder: PropertyListDecoder())
        #expect(try await bed.loader.value(for: plain) == item)
        #expect(
            try await bed.loader.request(testURL("http://origin.test"))
                .responseDecodable(Item.self, decoder: PropertyListDecoder()) == item)
        let own = Request<Item>(.make(), decoder: Fixed(item: item))
        #expect(try await bed.loader.value(for: own) == item)
    }

    /// A decoder of another format.
    private struct Fixed: ResponseDecoder {
        let item: Item

        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            guard let value = item as? Value else { throw Gone(body: "c4nary") }
            return value
        }
    }

    @Test(arguments: [304, 404, 500])
    func `a request for a decodable value throws for another status, with the body`(
        status: Int
    ) async {
        let bed = bed(status, "why")
        let error = await #expect(throws: DataLoaderError.self) {
            try await bed.loader.value(for: request())
        }
        #expect(error == .status(HTTPStatus(rawValue: status)))
        #expect(error?.body == Data("why".utf8))
        #expect(error?.context?.load != nil)
    }

    @Test(arguments: [200, 304, 404, 500])
    func `a request's own function gets every status and its body`(status: Int) async throws {
        let bed = bed(status, "body \(status)")
        let request = Request<String>(.make()) { response in
            let text = String(decoding: response.body ?? Data(), as: UTF8.self)
            if response.statusCode == 500 { throw Gone(body: text) }
            return "\(response.statusCode ?? 0) \(text)"
        }
        if status == 500 {
            await #expect(throws: Gone(body: "body 500")) {
                try await bed.loader.value(for: request)
            }
        } else {
            #expect(try await bed.loader.value(for: request) == "\(status) body \(status)")
        }
    }

    @Test func `a request's own function is not called without a whole response`() async {
        let bed = TestBed(otherwise: .fail(.dns))
        let request = Request<Int>(.make()) { _ in
            Issue.record("There is nothing to decode.")
            return 0
        }
        let error = await #expect(throws: DataLoaderError.self) {
            try await bed.loader.value(for: request)
        }
        #expect(error == .dns)
        #expect(throws: DataLoaderError.dns) {
            try request.value(from: DataLoaderResponse(request: .make(), error: .dns))
        }
    }

    @Test(arguments: [
        (#"{"parts":[{"name":"a"},{}]}"#, "parts[1].name is missing"),
        (#"{"parts":[{"name":7}]}"#, "parts[0].name has no String"),
        (#"{"parts":[],"notes":{"c4nary":"x"}}"#, "notes.… has no Int"),
        ("{", "the body is malformed"), ("", "the body is malformed"),
        ("[]", "the body has no Dictionary<String, Any>"),
    ])
    func `a body that cannot be decoded is an error that names the load and the place`(
        body: String, reason: String
    ) async throws {
        let bed = bed(201, body)
        let error = try #require(
            await #expect(throws: DataLoaderError.self) {
                try await bed.loader.value(for: request())
            })
        #expect(error.kind == .undecodable(status: 201, reason: reason))
        #expect(error.underlyingError is DecodingError)
        #expect(error.body == (body.isEmpty ? nil : Data(body.utf8)))
        #expect(error.mayHaveBeenProcessed)
        let start =
            "GET http://origin.test/items?… failed: the body of the 201 is no value: \(reason)"
        #expect("\(error)".hasPrefix(start))
        #expect(!"\(error)".contains("c4nary"))
        bed.expectNothingLeft()
    }

    @Test func `an error that a request's own function gets from a decoder has the same context`()
        async
    {
        let bed = bed(200, "{")
        let request = Request<Item>(.make()) { response in
            try JSONDecoder().decode(Item.self, from: response.body ?? Data())
        }
        let error = await #expect(throws: DataLoaderError.self) {
            try await bed.loader.value(for: request)
        }
        #expect(error?.name == "undecodable")
        #expect(error?.context?.method == "GET")
        #expect(error?.underlyingError is DecodingError)
    }

    @Test func `the error of a decoder of another format is named by its type alone`() {
        let response = DataLoaderResponse(request: .make(), statusCode: .ok)
        let error = #expect(throws: DataLoaderError.self) {
            try response.decoded(as: Int.self, using: Fixed(item: item))
        }
        #expect(error?.kind == .undecodable(status: .ok, reason: "Gone"))
        #expect(error?.underlyingError as? Gone == Gone(body: "c4nary"))
    }

    @Test
    func `a request for data gets the body as it is, and one for nothing needs only a success`()
        async throws
    {
        let bed = bed(202, "raw")
        #expect(try await bed.loader.value(for: Request<Data>(.make())) == Data("raw".utf8))
        try await bed.loader.value(for: Request<Void>(.make()))
        let refused = self.bed(503)
        await #expect(throws: DataLoaderError.status(.serviceUnavailable)) {
            try await refused.loader.value(for: Request<Data>(.make()))
        }
        await #expect(throws: DataLoaderError.status(.serviceUnavailable)) {
            try await refused.loader.value(for: Request<Void>(.make()))
        }
    }

    @Test func `a loader refuses a request for an endpoint, which has no base URL there`() async {
        let bed = bed(200)
        await #expect(throws: DataLoaderError.invalidRequest(.baseURL)) {
            try await bed.loader.value(for: Request<Item>(Endpoint("items")))
        }
        #expect(bed.transport.attempts.isEmpty)
    }

    @Test func `a value is decoded off the main actor`() async throws {
        let bed = bed(200)
        let request = Request<Bool>(.make()) { _ in Thread.isMainThread }
        let wasMain = try await Task { @MainActor in try await bed.loader.value(for: request) }
            .value
        #expect(!wasMain)
    }

    @Test func `a request prints no secrets`() {
        let request = Request<Data>(
            Endpoint("a", query: ["key": "c4nary"]), headers: ["X": "c4nary"],
            body: .data(Data("c4nary".utf8)))
        var dumped = ""
        dump(request, to: &dumped)
        #expect(!dumped.contains("c4nary"))
        #expect("\(request)" == "Request<Data> /a?…")
        #expect("\(Request<Void>(.make("/?c4nary")))" == "Request<()>")
    }
}
