// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingAuth
import DataLoadingTesting
import Dispatch
import Testing

/// Authorisers that never block are asked where their load is.
@Suite struct NonblockingAuthoriserTests {
    /// Answers at once, or later.
    private final class Marking: Authoriser {
        let isNonblocking: Bool
        let asked = EventRecorder<Void>()
        private let isLate: Bool

        init(isNonblocking: Bool = true, isLate: Bool = false) {
            self.isNonblocking = isNonblocking
            self.isLate = isLate
        }

        func authorise(_ request: DataLoaderRequest) -> Authorisation {
            asked.record(())
            var marked = request
            marked.headers["X-Mark"] = "here"
            let answer = marked
            return isLate ? .later { answer } : .use(answer)
        }

        func recover(_ request: DataLoaderRequest, from response: DataLoaderResponse) -> Bool {
            true
        }
    }

    @Test func `it is asked inside perform, and the request is sent at once`() {
        let authoriser = Marking()
        let bed = TestBed(authorisers: [authoriser])
        // Nothing of the load may need the factory's queue.
        bed.factory.context.queue.suspend()
        defer { bed.factory.context.queue.resume() }
        bed.loader.perform(.make())
        #expect(authoriser.asked.elements.count == 1)
        #expect(bed.transport.attempts.first?.request.headers["X-Mark"] == "here")
    }

    @Test(arguments: [true, false])
    func `with one that may block, all are asked on the factory's queue`(isFirst: Bool) async {
        let (quick, slow) = (Marking(), Marking(isNonblocking: false))
        let bed = TestBed(authorisers: isFirst ? [quick, slow] : [slow, quick])
        bed.factory.context.queue.suspend()
        bed.loader.perform(.make())
        #expect(quick.asked.elements.isEmpty && slow.asked.elements.isEmpty)
        bed.factory.context.queue.resume()
        _ = await bed.attempt(0)
        #expect(quick.asked.elements.count == 1 && slow.asked.elements.count == 1)
    }

    @Test func `an answer that comes later is taken, and sent`() async {
        let bed = TestBed(authorisers: [Marking(isLate: true), Marking()])
        bed.loader.perform(.make())
        #expect(await bed.attempt(0).request.headers["X-Mark"] == "here")
    }

    @Test func `after a 401 it is asked again, and the load is sent once more`() async {
        let authoriser = Marking()
        let bed = TestBed(
            [.respond(status: 401), .respond(status: 200)], authorisers: [authoriser])
        bed.loader.perform(.make())
        #expect(await bed.outcome()?.response?.statusCode == .ok)
        #expect(authoriser.asked.elements.count == 2)
        bed.expectNothingLeft()
    }

    @Test func `a thousand loads at once are authorised from many threads`() async {
        let authoriser = Marking()
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [authoriser])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<125 { bed.loader.perform(.make()) } }
            }
        }
        _ = await bed.delegate.outcomes(1_000)
        #expect(authoriser.asked.elements.count == 1_000)
        #expect(bed.transport.attempts.allSatisfy { $0.request.headers["X-Mark"] == "here" })
    }

    @Test func `the library's own are, unless a program adds the credential itself`() {
        let hosts: Set<String> = ["a.test"]
        #expect(StaticTokenAuthoriser(token: "t", hosts: hosts).isNonblocking)
        #expect(!StaticTokenAuthoriser(token: "t", hosts: hosts) { _, _ in }.isNonblocking)
        #expect(TokenAuthoriser(hosts: hosts) { _ in AccessToken("t") }.isNonblocking)
        #expect(
            !TokenAuthoriser(hosts: hosts, apply: { _, _ in }, fetch: { _ in AccessToken("t") })
                .isNonblocking)
    }
}
