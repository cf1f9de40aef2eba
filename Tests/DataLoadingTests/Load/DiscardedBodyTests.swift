// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

/// A body that nobody wants holds its load up for a second at most.
@Suite struct DiscardedBodyTests {
    private let directory = TemporaryDirectory()

    private func bed() -> TestBed { TestBed(authorisers: [TestAuthoriser()]) }

    private func perform(_ bed: TestBed) {
        bed.loader.perform(
            .make { request in
                request.responseSink = .file(directory.url("file"))
                request.retryPolicy = .immediately(maximumRetries: 1)
            })
    }

    @Test(arguments: [302, 401, 503])
    func `what follows a response does not wait for a body without an end`(status: Int) async {
        let bed = bed()
        perform(bed)
        let first = await bed.attempt(0)
        first.sendHead(status: status, headers: ["Location": "/b"])
        for _ in 0..<3 {
            first.send(Data(":\n".utf8))
            bed.settle()
            bed.advance(.milliseconds(300))
        }
        #expect(!first.isCancelled)
        bed.advance(.milliseconds(100))
        #expect(first.isCancelled)
        await bed.attempt(1).respond(status: 200, body: Data("whole".utf8))
        let response = await bed.outcome()?.response
        #expect(response?.error == nil)
        #expect(response?.bodyFile == directory.url("file"))
        bed.expectNothingLeft()
    }

    @Test(arguments: [302, 401, 503])
    func `a body that ends in time keeps its connection`(status: Int) async {
        let bed = bed()
        perform(bed)
        let first = await bed.attempt(0)
        first.sendHead(status: status, headers: ["Location": "/b"])
        bed.settle()
        bed.advance(.milliseconds(999))
        first.end()
        let second = await bed.attempt(1)
        #expect(!first.isCancelled)
        // The timer of the first response is gone, and does not end the second.
        bed.advance(.seconds(5))
        second.respond(status: 200)
        #expect(await bed.outcome()?.response?.error == nil)
        #expect(!second.isCancelled)
        bed.expectNothingLeft()
    }

    @Test(arguments: ["cancelled", "timed out"])
    func `a load that ends while a body is discarded leaves no timer`(end: String) async {
        let bed = bed()
        bed.loader.perform(.make { $0.timeout = .milliseconds(500) })
        await bed.attempt(0).sendHead(status: 302, headers: ["Location": "/b"])
        bed.settle()
        if end == "cancelled" {
            bed.loader.cancelAllLoads()
        } else {
            bed.advance(.milliseconds(500))
        }
        bed.settle()
        #expect(bed.service.runtime.timerQueue.count == 0)
        bed.expectNothingLeft()
    }
}
