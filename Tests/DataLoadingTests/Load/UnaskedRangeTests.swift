// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A part of a body does not pass for the whole where nobody looks at the status.
@Suite struct UnaskedRangeTests {
    /// What becomes of a body.
    enum Way: CaseIterable, Sendable {
        case memory, chunks, file, closure

        static let sinks: [Way] = [.file, .closure]
    }

    private let directory = TemporaryDirectory()
    private let handed = EventRecorder<Data>()

    private func request(
        _ way: Way, _ path: String = "/", _ change: (inout DataLoaderRequest) -> Void = { _ in }
    ) -> DataLoaderRequest {
        .make(path) { request in
            request.chunks = way == .chunks
            switch way {
            case .memory, .chunks: break
            case .file: request.responseSink = .file(directory.url("file"))
            case .closure: request.responseSink = .closure { [handed] in handed.record($0) }
            }
            change(&request)
        }
    }

    private func load(
        _ fields: HTTPHeaders, _ request: DataLoaderRequest
    ) async -> DataLoaderError? {
        let bed = TestBed([.respond(status: 206, headers: fields, body: patternBytes(10))])
        bed.loader.perform(request)
        let response = await bed.outcome()?.response
        if response?.error == nil { #expect(response?.statusCode == .partialContent) }
        #expect(bed.transport.attempts.count == 1)
        bed.expectNothingLeft()
        return response?.error
    }

    @Test(
        arguments: Way.sinks,
        [
            ["Content-Range": "bytes 0-9/100"], ["Content-Range": "bytes 90-99/100"],
            ["Content-Range": "bytes 0-9/*"], ["Content-Range": "bytes 90-99/*"],
            ["Content-Type": "multipart/byteranges; boundary=x"],
        ] as [HTTPHeaders])
    func `a sink gets no range that was not asked for`(way: Way, fields: HTTPHeaders) async {
        let error = await load(fields, request(way))
        #expect(error == .framing(reason: "a range that was not asked for"))
        #expect(handed.elements.isEmpty)
        #expect(directory.names.isEmpty)
    }

    @Test(arguments: Way.allCases)
    func `a range that was asked for is delivered`(way: Way) async {
        let fields: HTTPHeaders = ["Content-Range": "bytes 0-9/100"]
        let asking = [
            request(way) { $0.headers["Range"] = "bytes=0-9" },
            // Azure's and S3's.
            request(way) { $0.headers["x-ms-range"] = "bytes=0-9" },
            request(way, "/?partNumber=1"),
        ]
        for request in asking { #expect(await load(fields, request) == nil) }
    }

    @Test(
        arguments: Way.allCases,
        [["Content-Range": "bytes 0-9/10"], ["Content-Range": "id 1..10"], [:]] as [HTTPHeaders])
    func `a range that is the whole, or of no bytes, is delivered`(
        way: Way, fields: HTTPHeaders
    ) async {
        #expect(await load(fields, request(way)) == nil)
    }

    @Test(arguments: [Way.memory, .chunks])
    func `a range is delivered with its status where that is seen`(way: Way) async {
        #expect(await load(["Content-Range": "bytes 0-9/100"], request(way)) == nil)
    }
}
