// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import DataLoadingTransport
import Testing

@Suite struct SpanQueueTests {
    private func span() throws -> ExportedSpan {
        .attempt(try #require(AttemptSpan(.make())))
    }

    @Test func `the first span begins a wait, and the 512th does not wait`() throws {
        var queue = SpanQueue()
        let span = try span()
        #expect(queue.append(span).0 == .nothing)
        #expect(queue.count == 0)
        queue.open()
        #expect(queue.append(span).0 == .wait)
        for _ in 0..<510 { #expect(queue.append(span).0 == .nothing) }
        #expect(queue.append(span).0 == .send)
        #expect(queue.append(span).0 == .nothing)
        #expect(queue.takeBatch().count == 512)
        #expect(queue.batchEnded(wasTaken: true) == .nothing)
        #expect(queue.waitIsOver() == .send)
        #expect(queue.takeBatch().count == 1)
        #expect(queue.batchEnded(wasTaken: true) == .nothing)
        #expect(queue.append(span).0 == .wait)
    }

    @Test func `what came while a batch was sent waits anew, or is the next batch`() throws {
        var queue = SpanQueue()
        let span = try span()
        queue.open()
        #expect(queue.append(span).0 == .wait)
        #expect(queue.waitIsOver() == .send)
        #expect(queue.takeBatch().count == 1)
        #expect(queue.append(span).0 == .nothing)
        #expect(queue.batchEnded(wasTaken: true) == .wait)
        for _ in 0..<511 { _ = queue.append(span) }
        #expect(queue.waitIsOver() == .nothing)
        #expect(queue.takeBatch().count == 512)
    }

    @Test func `after a batch that was not taken, the next one goes when a wait ends`() throws {
        var queue = SpanQueue()
        let span = try span()
        queue.open()
        for _ in 0..<2_000 { _ = queue.append(span) }
        // The wait of the first span ends while the batch is sent.
        #expect(queue.waitIsOver() == .nothing)
        #expect(queue.takeBatch().count == 512)
        #expect(queue.batchEnded(wasTaken: false) == .wait)
        #expect(queue.append(span).0 == .nothing)
        #expect(queue.waitIsOver() == .send)
        #expect(queue.batchEnded(wasTaken: true) == .send)
    }

    @Test func `the oldest of 2,049 spans is displaced`() throws {
        var queue = SpanQueue()
        let span = try span()
        queue.open()
        let displaced = (0..<3_000).count { _ in queue.append(span).dropped != nil }
        #expect(displaced == 952)
        #expect(queue.count == 2_048)
    }

    @Test func `a closed queue takes none, and gives what it has`() throws {
        var queue = SpanQueue()
        let span = try span()
        queue.open()
        _ = queue.append(span)
        queue.close()
        #expect(queue.append(span).0 == .nothing)
        #expect(queue.waitIsOver() == .nothing)
        #expect(queue.takeBatch().count == 1)
        #expect(queue.takeBatch().isEmpty)
    }

    @Test func `a long URL is cut before it waits, and has its server`() throws {
        let text = "https://api.test/" + String(repeating: "a", count: 100_000) + "?secret"
        let url = testURL(text)
        for shown in [ShownURL(url), ShownURL(try RequestTarget(url))] {
            guard case .text(let origin, let text) = shown else {
                Issue.record("\(shown)")
                continue
            }
            #expect(text.utf8.count == 2_048)
            #expect(text.hasPrefix("https://api.test/aaa"))
            #expect(origin?.host == "api.test")
        }
        #expect(ShownURL(testURL("https://api.test/a?secret")).shown.text == "https://api.test/a?…")
    }
}
