// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension LongComputations {
    // A model of a server that breaks off bodies and serves ranges.
    @Suite struct ResumePropertyTests {
        // The body has the server's bytes after any breaks, correct answers and number of attempts.
        @Test(arguments: BodyMode.allCases)
        func `a body resumed after random breaks has exactly the server's bytes`(
            mode: BodyMode
        ) async {
            for seed in 0..<UInt64(min(propertyCases, 400)) {
                let server = RangeServer(seed: seed)
                let load = BodyLoad(mode, [], otherwise: .run { server.answer($0) }, retries: 12)
                let error = await load.outcome()?.error
                let body = load.body ?? Data()
                if error == nil {
                    #expect(body == server.body, "seed \(seed)")
                } else if !load.isRestartable {
                    #expect(body == server.body.prefix(body.count), "seed \(seed)")
                } else {
                    #expect(body.isEmpty, "seed \(seed)")
                }
                load.bed.expectNothingLeft()
            }
        }
    }
}

/// A server that breaks off at random places and usually serves ranges.
private final class RangeServer: Sendable {
    let body: Data
    private let generator: Locked<SeededGenerator>

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        body = patternBytes(Int.random(in: 1...2_000, using: &generator))
        self.generator = Locked(generator)
    }

    func answer(_ attempt: ScriptedAttempt) {
        let (dice, cut, size) = generator.withLock { generator in
            (
                Int.random(in: 0..<10, using: &generator),
                Int.random(in: 0...body.count, using: &generator),
                Int.random(in: 1...300, using: &generator)
            )
        }
        let first = attempt.request.headers["Range"].flatMap { Int($0.dropFirst(6).dropLast()) }
        if dice == 0 { return attempt.give(.respond(status: 503)) }
        if dice == 1 { return attempt.give(.fail(.connectionReset, sent: .written)) }
        var headers: HTTPHeaders = ["ETag": "\"v1\""]
        var start = 0
        if let first, dice > 2 {
            start = first
            headers["Content-Range"] = "bytes \(first)-\(body.count - 1)/\(body.count)"
            attempt.sendHead(status: 206, headers: headers)
        } else {
            if dice < 8 { headers["Content-Length"] = "\(body.count)" }
            attempt.sendHead(status: 200, headers: headers)
        }
        let end = dice > 7 ? body.count : max(start, cut)
        while start < end {
            attempt.send(body[start..<min(start + size, end)])
            start += size
        }
        if end == body.count {
            attempt.end()
        } else {
            attempt.fail(.truncatedBody, sent: .headReceived)
        }
    }
}
