// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A destination of downloads that are continued, each with a service of its own, as after a restart.
struct ResumedFileBed {
    static let tagged: HTTPHeaders = ["ETag": "\"v1\"", "Content-Length": "100"]

    let directory = TemporaryDirectory()
    var destination: URL { directory.url("file") }
    var place: PartPlace { PartPlace(beside: destination) }
    var content: Data? { try? Data(contentsOf: destination) }
    var part: Data? { try? Data(contentsOf: URL(fileURLWithPath: place.part)) }

    func request(
        _ path: String = "/", sha256: String? = nil, limit: Int64? = nil,
        _ change: (inout DataLoaderRequest) -> Void = { _ in }
    ) -> DataLoaderRequest {
        .make(path) { request in
            request.responseSink = .file(
                destination, limit: limit, resumesAcrossRestarts: true, sha256: sha256)
            change(&request)
        }
    }

    /// Makes one load in a service of its own.
    @discardableResult func load(_ answers: [ScriptedAnswer]) async -> ResumedLoad {
        await load(request(), answers)
    }

    @discardableResult func load(
        _ request: DataLoaderRequest, _ answers: [ScriptedAnswer]
    ) async -> ResumedLoad {
        let bed = TestBed(answers, otherwise: .fail(.dns))
        bed.loader.perform(request)
        let response = await bed.outcome()?.response
        bed.expectNothingLeft()
        return ResumedLoad(response: response, sent: bed.transport.attempts.map(\.request))
    }

    /// Leaves a part of so many bytes of the 100.
    func leavePart(
        _ count: Int = 40, _ headers: HTTPHeaders = tagged, _ request: DataLoaderRequest? = nil
    ) async {
        await load(request ?? self.request(), [Self.breaks(after: count, headers)])
    }

    /// A 200 that breaks off.
    static func breaks(after count: Int, _ headers: HTTPHeaders = tagged) -> ScriptedAnswer {
        .run { attempt in
            attempt.sendHead(status: 200, headers: headers)
            attempt.send(patternBytes(count))
            attempt.fail(.truncatedBody, sent: .headReceived)
        }
    }

    /// A 206 up to an end, with `count` bytes where it lies.
    static func rest(
        from first: Int, to last: Int = 99, of length: Int = 100, count: Int? = nil,
        _ headers: HTTPHeaders = ["ETag": "\"v1\""]
    ) -> ScriptedAnswer {
        var headers = headers
        headers["Content-Range"] = "bytes \(first)-\(last)/\(length)"
        let body = patternBytes(count ?? last - first + 1, from: first)
        return .respond(status: 206, headers: headers, body: body)
    }

    static let whole = ScriptedAnswer.respond(
        status: 200, headers: tagged, body: patternBytes(100))
}

/// The outcome of a load, and what it has sent.
struct ResumedLoad {
    let response: DataLoaderResponse?
    let sent: [TransportRequest]

    var error: DataLoaderError? { response?.error }
    var ranges: [String?] { sent.map { $0.headers["Range"] } }
}
