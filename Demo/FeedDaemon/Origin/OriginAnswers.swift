// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation

/// The responses of one of the embedded origin's two servers.
struct OriginAnswers: Sendable {
    /// The faults that the scenario produces.
    struct Incidents: Sendable {
        /// Open: the first token is revoked.
        let revocation = LoopbackGate()
        /// A 429 for the catalogue.
        let rush = Incident()
        /// A 503 for the artwork.
        let overload = Incident()
        /// An archive of which the second half is not sent.
        let cut = Incident()
        /// A picture of which the second half is not sent.
        let hang = Incident()
    }

    private static let begun = ContinuousClock.now
    private static let archive = Data(String(repeating: "A line of demo.\n", count: 37_500).utf8)
    private static let tag = "\"archive-1\""

    let incidents: Incidents
    let provider: OriginProvider
    /// Whether this is the server that leaves bodies unfinished.
    let isPrimary: Bool
    let stream: EventStream
    /// Called with the number of the connection on which a picture is left unfinished.
    let hangs: @Sendable (_ connection: Int) -> Void

    func answer(_ request: RecordedRequest) -> LoopbackResponse {
        switch request.path.split(separator: "/").first {
        case "session": provider.answer(request)
        case "catalogue": guarded(request) { catalogue(request) }
        case "events": guarded(request) { events }
        case "thumbnails": .ok(.pattern(2_000), headers: ["Content-Type": "image/png"])
        case "artwork": artwork(request)
        case "archive": archive(request)
        default: .status(404)
        }
    }

    private func guarded(
        _ request: RecordedRequest, _ answer: () -> LoopbackResponse
    ) -> LoopbackResponse {
        guard provider.accepts(request) else {
            return .status(401, headers: ["WWW-Authenticate": "Bearer"])
        }
        return answer()
    }

    private func catalogue(_ request: RecordedRequest) -> LoopbackResponse {
        if incidents.rush.isDue {
            return .status(429, headers: ["Retry-After": "1"]).followed(by: incidents.rush.happens)
        }
        let edition = 1 + (ContinuousClock.now - Self.begun).components.seconds / 4
        let items = (1...40).map { "\"item \($0)\"" }.joined(separator: ", ")
        return .ok(
            .text("{\"edition\": \(edition), \"items\": [\(items)]}"),
            headers: ["Content-Type": "application/json"])
    }

    /// Six lines, one every 80 ms.
    private var events: LoopbackResponse {
        let headers: HTTPHeaders = [
            "Content-Type": "application/x-ndjson", "Transfer-Encoding": "chunked",
        ]
        var steps: [LoopbackStep] = [.head(200, headers: headers)]
        for number in 1...6 {
            steps += [.chunks(.text("{\"event\": \(number)}\n")), .pause(.milliseconds(80))]
        }
        return LoopbackResponse(steps + [.lastChunk()])
    }

    private func artwork(_ request: RecordedRequest) -> LoopbackResponse {
        if incidents.overload.isDue {
            return .status(503, headers: ["Retry-After": "1"])
                .followed(by: incidents.overload.happens)
        }
        let headers: HTTPHeaders = ["Content-Type": "image/png", "Content-Length": "40000"]
        if isPrimary, incidents.hang.isDue {
            hangs(request.connection)
            return half(.pattern(20_000), headers: headers, incidents.hang)
        }
        return .steps(.head(200, headers: headers), slow(.pattern(40_000)))
    }

    /// A file with a strong validator, whole or from a byte on (RFC 9110, sections 13.1.5 and 14.2).
    private func archive(_ request: RecordedRequest) -> LoopbackResponse {
        let size = Self.archive.count
        var headers: HTTPHeaders = ["Content-Type": "application/x-tar", "ETag": Self.tag]
        let range = request.headers["Range"]?.wholeMatch(of: /bytes=([0-9]+)-/)?.output.1
        if request.headers["If-Range"] == Self.tag, let range, let start = Int(range), start < size
        {
            headers["Content-Range"] = "bytes \(start)-\(size - 1)/\(size)"
            stream.send(.resumed(at: start))
            return .status(206, headers: headers, body: .data(Self.archive[start...]))
        }
        headers["Content-Length"] = String(size)
        if isPrimary, incidents.cut.isDue {
            return half(.data(Self.archive[..<(size / 2)]), headers: headers, incidents.cut)
        }
        return .steps(.head(200, headers: headers), slow(.data(Self.archive)))
    }

    /// Sends the first half of a body, and nothing more.
    private func half(
        _ body: LoopbackPayload, headers: HTTPHeaders, _ incident: Incident
    ) -> LoopbackResponse {
        .steps(.head(200, headers: headers), .content(body), incident.happens, .stall)
    }

    /// Sends a body in ten pieces within a tenth of a second.
    private func slow(_ body: LoopbackPayload) -> LoopbackStep {
        .drip(body, of: Int(body.count / 10), every: .milliseconds(10))
    }
}
