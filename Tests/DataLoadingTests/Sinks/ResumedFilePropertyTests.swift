// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension LongComputations {
    // Random histories of one destination: its server changes the body, breaks off and lies about ranges,
    // and loads fail, are cancelled and are killed.
    @Suite struct ResumedFilePropertyTests {
        @Test(arguments: [true, false])
        func `a file after a random history is one body of its server from start to end`(
            hasDates: Bool
        ) async {
            for seed in 0..<UInt64(min(propertyCases, 200)) {
                var generator = SeededGenerator(seed: seed)
                let server = LyingServer(seed: seed, hasDates: hasDates)
                var directory = TemporaryDirectory()
                var isWhole = false
                for _ in 0..<40 where !isWhole {
                    let bed = TestBed(otherwise: .run { server.answer($0) })
                    let retries = Int.random(in: 0...2, using: &generator)
                    let file = directory.url("file")
                    let dies = Int.random(in: 0..<4, using: &generator) == 0
                    server.holds(dies)
                    let token = bed.loader.perform(
                        .make { request in
                            request.responseSink = .file(file, resumesAcrossRestarts: true)
                            request.retryPolicy = .immediately(maximumRetries: retries)
                        })
                    if dies, let sent = await server.held() {
                        // A killed process leaves what the system has taken from it.
                        let place = PartPlace(beside: file)
                        await eventually { Self.size(place.part) == sent || bed.hasEnded }
                        directory = Self.copy(directory)
                        token.cancel()
                    }
                    _ = await bed.outcome()
                    bed.expectNothingLeft()
                    if let body = try? Data(contentsOf: directory.url("file")) {
                        isWhole = true
                        #expect(server.bodies.contains(body), "seed \(seed)")
                        #expect(directory.names == ["file"], "seed \(seed)")
                    }
                    server.change()
                }
                #expect(isWhole, "seed \(seed)")
            }
        }

        private static func size(_ path: String) -> Int64? {
            var status = stat()
            return stat(path, &status) == 0 ? Int64(status.st_size) : nil
        }

        private static func copy(_ directory: TemporaryDirectory) -> TemporaryDirectory {
            let copy = TemporaryDirectory()
            for name in directory.names {
                try? FileManager.default.copyItem(at: directory.url(name), to: copy.url(name))
            }
            return copy
        }
    }
}

extension TestBed {
    fileprivate var hasEnded: Bool { delegate.events.contains { $0.isTerminal } }
}

/// A server that keeps to the rules for what it names with a validator, and to no others.
private final class LyingServer: Sendable {
    private struct State: Sendable {
        var generator: SeededGenerator
        var version = 0
        var bodies: [Data] = []
        var mustHold = false
    }

    private let state: Locked<State>
    private let hasDates: Bool
    /// The size of the part where the server holds its answer back; nil when it does not.
    private let holding = EventRecorder<Int64?>()
    private let asked = Locked(0)

    init(seed: UInt64, hasDates: Bool) {
        var generator = SeededGenerator(seed: seed &+ 1_000)
        let body = patternBytes(Int.random(in: 1...2_000, using: &generator))
        state = Locked(State(generator: generator, bodies: [body]))
        self.hasDates = hasDates
    }

    var bodies: [Data] { state.withLock { $0.bodies } }

    /// Changes the body now and then.
    func change() {
        state.withLock { state in
            guard Int.random(in: 0..<6, using: &state.generator) == 0 else { return }
            state.version += 1
            let count = Int.random(in: 1...2_000, using: &state.generator)
            state.bodies.append(patternBytes(count, from: state.version * 997))
        }
    }

    func holds(_ mustHold: Bool) {
        state.withLock { $0.mustHold = mustHold }
    }

    /// Waits until the next answer is given or held back; returns the size of the part then.
    func held() async -> Int64? {
        let number = asked.withLock { number in
            number += 1
            return number
        }
        return await holding.first(number).last ?? nil
    }

    private func validator(_ version: Int) -> HTTPHeaders {
        guard hasDates else { return ["ETag": "\"v\(version)\""] }
        let second = version < 10 ? "0\(version)" : "\(version)"
        return [
            "Last-Modified": "Sun, 06 Nov 1994 08:49:\(second) GMT",
            "Date": "Mon, 07 Nov 1994 08:49:00 GMT",
        ]
    }

    func answer(_ attempt: ScriptedAttempt) {
        let (dice, lie, cut, version, body, mustHold) = state.withLock { state in
            let body = state.bodies[state.version]
            defer { state.mustHold = false }
            return (
                Int.random(in: 0..<20, using: &state.generator),
                Int.random(in: -2...2, using: &state.generator),
                Int.random(in: 0...body.count, using: &state.generator), state.version, body,
                state.mustHold
            )
        }
        var held: Int64?
        defer { if mustHold { holding.record(held) } }
        // The load waits for the end of an answer that it cannot use.
        var isUsable = true
        if dice == 0 { return attempt.give(.respond(status: 503)) }
        if dice == 1 { return attempt.give(.fail(.connectionReset, sent: .written)) }
        var headers = validator(version)
        let range = attempt.request.headers["Range"].flatMap { Int($0.dropFirst(6).dropLast()) }
        let condition = attempt.request.headers["If-Range"]
        var start = 0
        if let range, range >= body.count, dice < 12 {
            headers["Content-Range"] = "bytes */\(body.count)"
            return attempt.give(.respond(status: 416, headers: headers))
        }
        let isSame = condition == headers["ETag"] || condition == headers["Last-Modified"]
        if let range, range < body.count, isSame || dice > 17 {
            // A lie: the range begins elsewhere, or is one of a body that has changed.
            start = dice == 2 ? min(max(range + lie, 0), body.count - 1) : range
            isUsable = isSame && start == range
            headers["Content-Range"] = "bytes \(start)-\(body.count - 1)/\(body.count)"
            attempt.sendHead(status: 206, headers: headers)
        } else {
            headers["Content-Length"] = "\(body.count)"
            attempt.sendHead(status: 200, headers: headers)
        }
        let end = dice > 13 ? body.count : max(start, cut)
        attempt.send(body[start..<end])
        if mustHold, isUsable {
            // A part keeps its last byte until it is replaced.
            held = Int64(max(end, start > 0 ? start + 1 : 0))
        } else if end == body.count {
            attempt.end()
        } else {
            attempt.fail(.truncatedBody, sent: .headReceived)
        }
    }
}
