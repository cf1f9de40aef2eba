// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

// The download progress that an owner is told.
@Suite struct DownloadProgressTests {
    private static func get(
        _ heard: EventRecorder<BodyProgress>, _ change: (inout DataLoaderRequest) -> Void = { _ in }
    ) -> DataLoaderRequest {
        .make { request in
            request.downloadProgress = { heard.record($0) }
            change(&request)
        }
    }

    @Test func `download progress is reported in every mode, ending with the total`() async {
        for mode in 0..<3 {
            let heard = EventRecorder<BodyProgress>()
            let bed = TestBed()
            bed.loader.perform(
                Self.get(heard) { request in
                    request.chunks = mode == 1
                    if mode == 2 { request.responseSink = .closure { _ in } }
                })
            let attempt = await bed.attempt(0)
            attempt.sendHead(status: 200, headers: ["Content-Length": "1000"])
            for _ in 0..<10 {
                attempt.send(Data(count: 100))
                bed.settle()
            }
            attempt.end()
            _ = await bed.outcome()
            #expect(heard.elements.map(\.completed) == [100, 1_000])
            #expect(heard.elements.allSatisfy { $0.total == 1_000 })
        }
    }

    // The queue may be shared by many loads, and a slow handler always has more to report.
    @Test func `a slow progress handler lets other work of its queue run between reports`() {
        let queue = DispatchQueue(label: "delegate")
        let clock = ManualClock()
        let heard = EventRecorder<String>()
        let reporter = Locked<ProgressReporter?>(nil)
        let request = DataLoaderRequest.make { request in
            request.downloadProgress = { progress in
                heard.record("\(progress.completed)")
                guard progress.completed < 3 else { return }
                queue.async { heard.record("other") }
                clock.advance(by: .seconds(1))
                reporter.withLock { $0 }?.note(
                    BodyProgress(completed: progress.completed + 1), .download)
            }
        }
        reporter.withLock {
            $0 = ProgressReporter.make(
                for: request, queue: queue, timerQueue: TimerQueue(timekeeper: clock.timekeeper))
        }
        reporter.withLock { $0 }?.note(BodyProgress(completed: 1), .download)
        for _ in 0..<10 { queue.sync {} }
        #expect(heard.elements == ["1", "other", "2", "other", "3"])
        reporter.withLock { $0 = nil }
    }

    @Test func `download progress reports no total that cannot be trusted`() async {
        let heads: [HTTPHeaders] = [
            ["Content-Encoding": "gzip", "Content-Length": "5"], ["Content-Length": "5, 6"],
            ["Content-Length": "99999999999999999999"], [:],
            ["Content-Length": "5", "Transfer-Encoding": "chunked"],
        ]
        for head in heads {
            let heard = EventRecorder<BodyProgress>()
            let bed = TestBed(otherwise: .respond(status: 200, headers: head, body: Data(count: 9)))
            bed.loader.perform(Self.get(heard))
            _ = await bed.outcome()
            #expect(heard.elements == [BodyProgress(completed: 9)])
        }
    }

    @Test func `download progress counts only the delivered attempt and restarts with a retry`()
        async
    {
        let heard = EventRecorder<BodyProgress>()
        let bed = TestBed([
            .respond(status: 503, body: Data(count: 7)),
            .run { attempt in
                attempt.sendHead(status: 200)
                attempt.send(Data(count: 50))
                attempt.send(Data(count: 5))
                attempt.fail(.truncatedBody, sent: .headReceived)
            },
            .respond(status: 200, body: Data(count: 20)),
        ])
        bed.loader.perform(Self.get(heard) { $0.retryPolicy = .immediately(maximumRetries: 2) })
        _ = await bed.outcome()
        #expect(heard.elements.last == BodyProgress(completed: 20))
        #expect(Set(heard.elements.map(\.completed)).isSubset(of: [50, 55, 20]))
    }
}
