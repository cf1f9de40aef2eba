// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct JSONLinesTests {
    private struct Price: Decodable, Sendable, Equatable {
        let cents: Int
    }

    private func prices(_ body: String) -> JSONLines<Price>.Iterator {
        let bed = TestBed([.respond(status: 200, body: Data(body.utf8))])
        return bed.loader.jsonLines(for: .make()).makeAsyncIterator()
    }

    @Test func `each line is decoded and blank ones are skipped`() async throws {
        var prices = prices("\u{FEFF}{\"cents\": 1}\r\n\n \t\n{\"cents\": 2}")
        #expect(try await prices.next() == Price(cents: 1))
        #expect(try await prices.next() == Price(cents: 2))
        #expect(try await prices.next() == nil)
    }

    @Test func `a line that does not decode is reported by its number`() async throws {
        var prices = prices("{\"cents\": 1}\n\n{\"cents\": \"secret\"}\n{\"cents\": 3}\n")
        #expect(try await prices.next() == Price(cents: 1))
        let error = await #expect(throws: JSONLineError.self) { try await prices.next() }
        #expect(error?.line == 3)
        #expect(error?.underlyingError is DecodingError)
        #expect(error.map { "\($0)" } == "line 3 cannot be decoded: DecodingError")
        #expect(try await prices.next() == nil)
    }

    @Test func `a last line that is cut does not decode`() async throws {
        var prices = prices("{\"cents\": 1}\n{\"cents\":")
        #expect(try await prices.next() == Price(cents: 1))
        let error = await #expect(throws: JSONLineError.self) { try await prices.next() }
        #expect(error?.line == 2)
    }

    @Test func `the caller's decoder decodes the lines`() async throws {
        struct Moment: Decodable, Sendable {
            let date: Date
        }
        let bed = TestBed([.respond(status: 200, body: Data("{\"date\": 60}\n".utf8))])
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        var moments = bed.loader.jsonLines(Moment.self, for: .make(), decoder: decoder)
            .makeAsyncIterator()
        #expect(try await moments.next()?.date == Date(timeIntervalSince1970: 60))
    }
}
