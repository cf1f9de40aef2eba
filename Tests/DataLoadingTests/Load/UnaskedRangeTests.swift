// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A part of a body does not pass for the whole.
@Suite struct UnaskedRangeTests {
    /// What becomes of a body.
    enum Way: CaseIterable, Sendable {
        case memory, chunks, file
    }

    private let directory = TemporaryDirectory()

    private func request(_ way: Way, range: String? = nil) -> DataLoaderRequest {
        .make { request in
            request.chunks = way == .chunks
            request.headers["Range"] = range
            if way == .file { request.responseSink = .file(directory.url("file")) }
        }
    }

    private func load(
        _ range: String, _ request: DataLoaderRequest
    ) async -> (error: DataLoaderError?, chunks: Int) {
        let bed = TestBed([
            .respond(
                status: 206, headers: ["Content-Range": range, "ETag": "\"1\""],
                body: patternBytes(10))
        ])
        bed.loader.perform(request)
        let error = await bed.outcome()?.response?.error
        #expect(bed.transport.attempts.count == 1)
        bed.expectNothingLeft()
        let chunks = bed.delegate.events.count {
            if case .chunk = $0 { true } else { false }
        }
        return (error, chunks)
    }

    @Test(arguments: Way.allCases, ["bytes 0-9/100", "bytes 90-99/100"])
    func `a range that was not asked for is an error`(way: Way, range: String) async {
        let result = await load(range, request(way))
        #expect(result.error == .framing(reason: "a range that was not asked for"))
        #expect(result.chunks == 0)
        #expect(directory.names.isEmpty)
    }

    @Test(arguments: Way.allCases)
    func `a range that was asked for is delivered`(way: Way) async {
        let result = await load("bytes 0-9/100", request(way, range: "bytes=0-9"))
        #expect(result.error == nil)
    }

    @Test(arguments: Way.allCases, ["bytes 0-9/10", "id 1..10", "bytes 0-9/*"])
    func `a range that may be the whole is delivered`(way: Way, range: String) async {
        let result = await load(range, request(way))
        #expect(result.error == nil)
    }
}
