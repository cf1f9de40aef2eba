// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples of the article about typed requests: a list of users.

struct User: Decodable, Sendable {
    let id: Int
    let name: String
    let apiKey: Secret<String>
}

extension Request where Value == [User] {
    static func users(page: Int) -> Self {
        Request(Endpoint("users", query: ["page": "\(page)"]))
    }
}

extension Request where Value == User? {
    static func user(named name: String) -> Self {
        Request(Endpoint("users", name)) { response in
            if response.statusCode == .notFound { return nil }
            try response.validateStatusCode()
            return try response.decoded(as: User.self)
        }
    }
}

extension Request where Value == Void {
    static func delete(_ user: User) -> Self {
        Request(Endpoint("users", user.name), method: .delete)
    }
}

struct UserDirectory: Sendable {
    let network: any RequestSender

    func names() async throws -> [String] {
        try await network.send(.users(page: 1)).map(\.name).sorted()
    }

    func remove(_ name: String) async throws -> Bool {
        guard let user = try await network.send(.user(named: name)) else { return false }
        try await network.send(.delete(user))
        return true
    }
}

struct CannedSender: RequestSender {
    let status: HTTPStatus
    let body: String

    func send<Value>(_ request: Request<Value>) async throws -> Value {
        let base = URL(string: "https://api.example.com")
        let load = try request.makeDataLoaderRequest(baseURL: base)
        let response = DataLoaderResponse(
            request: load, statusCode: status, body: Data(body.utf8))
        return try request.value(from: response)
    }
}

/// A value that no way of printing shows.
struct Secret<Value: Sendable>: Sendable, CustomStringConvertible, CustomReflectable {
    let value: Value

    var description: String { "(secret)" }
    var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension Secret: Decodable where Value: Decodable {
    init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Value.self)
    }
}

@Suite struct TypedSamples {
    private static let users = """
        [{"id":2,"name":"Bo","apiKey":"c4nary"},{"id":1,"name":"Ada","apiKey":"c4nary"}]
        """

    @Test func `the sample of a directory of users works through a connection`() async throws {
        let bed = TestBed([
            .respond(status: 200, body: Data(Self.users.utf8)),
            .respond(status: 200, body: Data(#"{"id":1,"name":"a/b","apiKey":"k"}"#.utf8)),
            .respond(status: 204), .respond(status: 404),
        ])
        let loader = bed.loader
        let base = testURL("http://origin.test/v1")
        let connection = Connection(
            baseURL: base, headers: ["Accept": "application/json"], loader: loader)
        let directory = UserDirectory(network: connection)
        #expect(try await directory.names() == ["Ada", "Bo"])
        #expect(try await directory.remove("a/b"))
        #expect(try await !directory.remove("nobody"))
        #expect(
            bed.transport.attempts.map { "\($0.request.method.rawValue) \($0.request.url)" } == [
                "GET http://origin.test/v1/users?page=1", "GET http://origin.test/v1/users/a%2Fb",
                "DELETE http://origin.test/v1/users/a%2Fb",
                "GET http://origin.test/v1/users/nobody",
            ])
    }

    @Test func `the sample of a replaced sender needs no network`() async throws {
        let directory = UserDirectory(network: CannedSender(status: 404, body: ""))
        #expect(try await directory.remove("Ada") == false)
        let users = UserDirectory(network: CannedSender(status: 200, body: Self.users))
        #expect(try await users.names() == ["Ada", "Bo"])
        let broken = UserDirectory(network: CannedSender(status: 500, body: "down"))
        await #expect(throws: DataLoaderError.status(.internalServerError)) {
            try await broken.names()
        }
    }

    @Test func `the sample of a secret is decoded, and shown by no way of printing a model`()
        async throws
    {
        let sender = CannedSender(status: 200, body: Self.users)
        let user = try #require(try await sender.send(.users(page: 1)).first)
        #expect(user.apiKey.value == "c4nary")
        var dumped = ""
        dump(user, to: &dumped)
        for text in ["\(user)", String(reflecting: user), dumped, "\([user])", "\(user.apiKey)"] {
            #expect(!text.contains("c4nary"), "\(text)")
        }
        #expect("\(user)" == #"User(id: 2, name: "Bo", apiKey: (secret))"#)
        print(user)  // User(id: 2, name: "Bo", apiKey: (secret))
    }

    @Test func `the sample of a request adds a timeout and retries at the call`() async throws {
        let bed = TestBed([.respond(status: 503), .respond(status: 200, body: Data("[]".utf8))])
        let base = testURL("http://origin.test")
        let connection = Connection(baseURL: base, loader: bed.loader)
        async let users = connection.send(
            .users(page: 2).modified {
                $0.timeout = .seconds(20)
                $0.retryPolicy = .immediately(maximumRetries: 1)
            })
        #expect(try await users.isEmpty)
    }

    @Test func `the sample of an endpoint encodes its segment and its query`() throws {
        let base = URL(string: "https://api.example.com/v1")
        let endpoint = Endpoint("people", "a/b?c", query: ["fields": "name+age"])
        print(try endpoint.url(relativeTo: base))
        // https://api.example.com/v1/people/a%2Fb%3Fc?fields=name%2Bage
        #expect(
            try endpoint.url(relativeTo: base).absoluteString
                == "https://api.example.com/v1/people/a%2Fb%3Fc?fields=name%2Bage")
    }
}
