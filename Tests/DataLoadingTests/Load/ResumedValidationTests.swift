// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A range is asked for without the conditions of the cache, so that a 304 to it confirms nothing.
@Suite struct ResumedValidationTests {
    /// A bed whose cache has a stale response, and whose server replaces it by one that breaks off
    /// after 40 bytes and then answers a range with a 304.
    private func bed(_ headers: HTTPHeaders) async throws -> TestBed {
        let caching = CacheBed()
        let bed = caching.bed(
            [
                fresh("stored", ["ETag": "\"old\""], maxAge: 1),
                .run { attempt in
                    attempt.sendHead(
                        status: 200, headers: ["ETag": "\"new\"", "Content-Length": "100"])
                    attempt.send(patternBytes(40))
                    attempt.fail(.truncatedBody, sent: .headReceived)
                },
                .respond(status: 304, headers: headers),
            ], otherwise: .respond(status: 200, body: Data("whole".utf8)))
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        return bed
    }

    @Test(arguments: ["\"old\"", "\"new\"", "\"other\""])
    func `a 304 to a range is not played after the bytes of another response`(
        tag: String
    ) async throws {
        let bed = try await bed(["ETag": tag])
        bed.loader.perform(
            .make {
                $0.chunks = true
                $0.retryPolicy = .immediately(maximumRetries: 3)
            })
        #expect(await bed.outcome()?.response?.error == .truncatedBody)
        #expect(bed.delegate.body == patternBytes(40))
        let sent = bed.transport.attempts.map(\.request.headers)
        #expect(sent.map { $0["If-None-Match"] } == [nil, "\"old\"", nil])
        #expect(sent.map { $0["Range"] } == [nil, nil, "bytes=40-"])
        bed.expectNothingLeft()
    }

    // The server has replaced what is stored, and its new response was not delivered.
    @Test func `a 304 to a range does not bring back what was replaced`() async throws {
        let bed = try await bed(["ETag": "\"old\""])
        let response = try await bed.loader.response(
            for: .make { $0.retryPolicy = .immediately(maximumRetries: 3) })
        #expect(response.statusCode == .notModified)
        #expect(text(response) != "stored")
        bed.expectNothingLeft()
    }
}
