// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples in the doc comments of Request and Connection.

struct Person: Decodable, Equatable, Sendable {
    let name: String
}

extension Request where Value == Person {
    static func person(_ id: Int) -> Self {
        Request(Endpoint("people", String(id)))
    }
}

@Suite struct PersonSamples {
    @Test func `the sample of a connection sends a request by its name`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200, body: Data(#"{"name":"Ada"}"#.utf8)))
        let base = testURL("http://origin.test")
        let loader = bed.loader
        let connection = Connection(
            baseURL: base, headers: ["Accept": "application/json"], loader: loader)
        let person = try await connection.send(.person(42))
        #expect(person == Person(name: "Ada"))
        let sent = bed.transport.attempts[0].request
        #expect(sent.url.absoluteString == "http://origin.test/people/42")
        #expect(sent.headers["Accept"] == "application/json")
    }
}
