// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
@testable import DataLoadingCurl
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// Pausing and resuming at any time loses and repeats no byte.
@Suite struct PausePropertyTests {
    @Test func `chunks for a delegate that stalls and continues are complete and in order`() {
        property(cases: propertyCases / 50) { generator in
            let owner = DispatchQueue(label: "owner")
            let bed = TestBed(delegateQueue: owner)
            bed.loader.perform(.make { $0.chunks = true })
            bed.settle()
            guard let attempt = bed.transport.attempts.first else { return "not started" }
            attempt.sendHead(status: 200)
            var isAway = false
            var sent = 0
            for _ in 0..<40 {
                if Int.random(in: 0..<3, using: &generator) == 0 {
                    if isAway { owner.resume() } else { owner.suspend() }
                    isAway.toggle()
                }
                if !isAway { bed.settle() }
                // The server sends nothing while the transfer is paused.
                guard !attempt.isPaused else { continue }
                let count = Int.random(in: 1...150_000, using: &generator)
                attempt.send(patternBytes(count, from: sent))
                sent += count
            }
            if isAway { owner.resume() }
            bed.settle()
            if attempt.isPaused { return "paused though everything was taken" }
            attempt.end()
            bed.settle()
            guard bed.error == nil else { return "\(String(describing: bed.error))" }
            let body = bed.delegate.body
            return body == patternBytes(sent) ? nil : "\(body.count) bytes of \(sent)"
        }
    }
}

#if canImport(Glibc) || canImport(Musl)
    extension SocketTests {
        @Suite struct PauseSocketPropertyTests {
            /// The task of an attempt, which starts after its sink is made.
            private final class Flow: Sendable {
                let task = Locked<(any TransportTask)?>(nil)
                let generator: Locked<SeededGenerator>
                let queue = DispatchQueue(label: "resumes")

                init(seed: UInt64) {
                    generator = Locked(SeededGenerator(seed: seed))
                }

                /// Pauses at random and resumes from another thread, early or late.
                func stir() {
                    let dice = generator.withLock { Int.random(in: 0..<8, using: &$0) }
                    guard dice < 3, let task = task.withLock({ $0 }) else { return }
                    task.pause()
                    if dice == 0 { task.resume() }
                    queue.async { task.resume() }
                }
            }

            @Test(arguments: [false, true])
            func `a transfer that is paused at random is complete`(isCoded: Bool) async throws {
                let plain = [UInt8](patternBytes(1_000_000))
                let server = try LoopbackServer { _ in
                    isCoded
                        ? .ok(.gzip(plain), headers: ["Content-Encoding": "gzip"])
                        : .chunked([.bytes(plain)])
                }
                let transport = CurlTransport()
                for seed in UInt64(1)...UInt64(max(3, propertyCases / 1_000)) {
                    let flow = Flow(seed: seed)
                    let sink = AttemptRecorder(onHead: { _ in flow.stir() }) { _ in flow.stir() }
                    var request = TransportRequest(url: server.url())
                    request.streamsResponse = true
                    let task = transport.start(request, sink: sink)
                    flow.task.withLock { $0 = task }
                    let record = await sink.ended()
                    // The attempt retains its sink, and the sink retains the flow.
                    flow.task.withLock { $0 = nil }
                    #expect(record.error == nil, "seed \(seed)")
                    #expect(record.body == Data(plain), "seed \(seed)")
                    #expect(record.endings == 1 && record.late == 0, "seed \(seed)")
                }
                await transport.shutDown()
            }
        }
    }
#endif
