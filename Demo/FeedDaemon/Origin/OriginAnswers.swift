// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting

/// What the embedded origin answers, the same at both of its addresses.
struct OriginAnswers: Sendable {
    /// What goes wrong, when the scenario wants it.
    struct Incidents: Sendable {
        /// Open: the token given out at first is not good any more.
        let revocation = LoopbackGate()
        /// A 429 for the catalogue.
        let rush = Incident()
        /// A 503 for the artwork.
        let overload = Incident()
        /// A picture of which the second half does not come.
        let hang = Incident()
    }

    let incidents: Incidents
    let provider: OriginProvider
    /// Hears on which connection a picture is left unfinished.
    let hangs: @Sendable (_ connection: Int) -> Void

    func answer(_ request: RecordedRequest) -> LoopbackResponse {
        switch request.path.split(separator: "/").first {
        case "session": provider.answer(request)
        case "catalogue": guarded(request) { catalogue }
        case "events": guarded(request) { events }
        case "artwork": artwork(request)
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

    private var catalogue: LoopbackResponse {
        if incidents.rush.isDue {
            return .status(429, headers: ["Retry-After": "1"]).followed(by: incidents.rush.happens)
        }
        return .ok(.pattern(3_000), headers: ["Content-Type": "application/json"])
    }

    /// Six pieces, as they would come about.
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
        if incidents.hang.isDue {
            hangs(request.connection)
            return .steps(
                .head(200, headers: headers), .content(.pattern(20_000)), incidents.hang.happens,
                .stall)
        }
        // A slow line: the picture takes a tenth of a second.
        return .steps(
            .head(200, headers: headers),
            .drip(.pattern(40_000), of: 4_000, every: .milliseconds(10)))
    }
}
