// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// Every load ends in exactly one outcome, on the delegate queue, never inside `perform`.
@Suite struct OneOutcomeTests {
    // MARK: Before an attempt

    @Test(arguments: [
        ("file:///etc/passwd", RequestFault.scheme), ("ftp://h/", .scheme), ("/path", .scheme),
        ("http:///path", .host), ("http://user:secret@h/", .userInformation),
        ("http://h:0/", .port), ("http://h:65536/", .port), ("data:text/plain,x", .scheme),
    ])
    func `a load of a bad URL ends with the part that is wrong`(
        text: String, fault: RequestFault
    ) {
        let bed = TestBed(otherwise: .respond(status: 200))
        bed.loader.perform(DataLoaderRequest(url: testURL(text)))
        #expect(bed.error == .invalidRequest(fault))
        #expect(bed.delegate.events.count == 1)
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    // A load in chunks needs a delegate that supports them.
    @Test func `a load in chunks ends with an error when its delegate does not support them`() {
        let bed = TestBed(delegate: RecordingDelegate(supportsChunks: false))
        bed.loader.perform(.make { $0.chunks = true })
        #expect(bed.error == .chunksNotSupported)
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `a load without the chunks option is delivered whole to any delegate`() {
        let bed = TestBed([.respond(status: 200, body: Data("x".utf8))])
        bed.loader.perform(.make())
        #expect(bed.ended?.response?.body == Data("x".utf8))
        #expect(bed.delegate.events.count == 1)
    }

    // Cancelled before it starts.
    @Test func `a load that is cancelled right after perform ends as cancelled`() {
        let bed = TestBed(otherwise: .hold)
        let token = bed.loader.perform(.make())
        token.cancel()
        #expect(token.isCancelled)
        #expect(bed.error == .cancelled)
        #expect(bed.delegate.events.count == 1)
        bed.expectNothingLeft()
    }

    @Test func `a load of an invalidated service ends at once`() {
        let bed = TestBed(otherwise: .respond(status: 200))
        bed.service.invalidateAndCancel()
        bed.loader.perform(.make())
        #expect(bed.error == .serviceInvalidated)
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    // The authoriser never answers.
    @Test func `a load whose authoriser never answers ends at its deadline`() async {
        let authoriser = TestAuthoriser(.hold)
        let bed = TestBed(authorisers: [authoriser])
        bed.loader.perform(.make("/a") { $0.timeout = .seconds(5) })
        _ = await authoriser.held(1)
        bed.advance(.milliseconds(4_999))
        #expect(bed.delegate.events.isEmpty)
        bed.advance(.milliseconds(1))
        #expect(bed.error == .timedOut(after: .seconds(5), mayHaveBeenProcessed: false))
        #expect(await authoriser.calls(2) == [.authorise("/a"), .cancel("/a")])
        authoriser.grant(0)
        bed.settle()
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `a load whose authoriser releases it without an answer ends with an error`() {
        let authoriser = DelegatingAuthoriser(identifier: "test") { _, _ in }
        let bed = TestBed(authorisers: [authoriser])
        bed.loader.perform(.make())
        #expect(
            bed.error
                == .cannotAuthenticate(reason: "test: the delegate was released without an answer"))
        bed.expectNothingLeft()
    }

    @Test func `only the first answer of an authoriser counts`() async {
        let authoriser = TestAuthoriser(.hold)
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [authoriser])
        bed.loader.perform(.make())
        _ = await authoriser.held(1)
        authoriser.grant(0)
        authoriser.grant(0)
        authoriser.refuse(0)
        bed.settle()
        authoriser.refuse(0)
        guard case .success? = bed.ended else {
            Issue.record("no success")
            return
        }
        #expect(bed.delegate.events.count == 1)
        #expect(bed.transport.attempts.count == 1)
        bed.expectNothingLeft()
    }

    @Test func `an offline load ends as not cached`() {
        let bed = TestBed(otherwise: .respond(status: 200))
        bed.factory.isOffline = true
        bed.loader.perform(.make())
        #expect(bed.error == .notCached)
        bed.factory.isOffline = false
        bed.loader.perform(.make())
        bed.settle()
        #expect(bed.delegate.events.count == 2)
        bed.expectNothingLeft()
    }

    // MARK: Statuses

    // Every status is a response; 200 to 299 are successes.
    @Test func `every status is delivered, and 200 to 299 are successes`() {
        let codes = [
            100, 199, 200, 204, 206, 299, 300, 304, 400, 401, 403, 404, 418, 500, 599, 999,
        ]
        for code in codes {
            let bed = TestBed([.respond(status: code, body: Data("b".utf8))])
            bed.loader.perform(.make())
            let isSuccess = (200..<300).contains(code)
            #expect(bed.error == (isSuccess ? nil : .status(HTTPStatus(rawValue: code))))
            #expect(bed.ended?.response?.statusCode?.rawValue == code)
            #expect(bed.ended?.response?.body == Data("b".utf8))
            #expect(bed.delegate.events.count == 1)
            bed.expectNothingLeft()
        }
    }

    // MARK: Queue and order

    @Test func `no delegate is called inside perform, whatever is wrong`() {
        let queue = DispatchQueue(label: "busy")
        let bed = TestBed(otherwise: .respond(status: 200), delegateQueue: queue)
        queue.sync {
            bed.loader.perform(.make())
            bed.loader.perform(DataLoaderRequest(url: testURL("file:///")))
            bed.loader.perform(.make()).cancel()
            bed.transport.flush()
            #expect(bed.delegate.events.isEmpty)
        }
        bed.settle()
        #expect(bed.delegate.events.count == 3)
    }

    @Test
    func `delegate calls arrive on the delegate queue, one at a time even if it is concurrent`() {
        let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let inside = Locked(0)
        let overlaps = Locked(0)
        let delegate = RecordingDelegate(
            supportsChunks: true,
            onEvent: { _ in
                let isAlone = inside.withLock { inside in
                    inside += 1
                    return inside == 1
                }
                if !isAlone || DispatchQueue.getSpecific(key: key) != true {
                    overlaps.withLock { $0 += 1 }
                }
                inside.withLock { $0 -= 1 }
            })
        let bed = TestBed(
            otherwise: .respond(status: 200, body: patternBytes(100)), delegate: delegate,
            delegateQueue: queue)
        for index in 0..<200 { bed.loader.perform(.make { $0.chunks = index % 2 == 0 }) }
        bed.settle()
        #expect(overlaps.withLock { $0 } == 0)
        #expect(bed.delegate.events.count { $0.isTerminal } == 200)
        bed.expectNothingLeft()
    }

    @Test func `loads end in the order in which their responses arrived`() {
        let bed = TestBed()
        let requests = (0..<8).map { DataLoaderRequest.make("/\($0)") }
        for request in requests { bed.loader.perform(request) }
        let order = [3, 1, 7, 0, 2, 6, 5, 4]
        for index in order { bed.transport.attempts[index].respond(status: 200) }
        bed.settle()
        let heard = bed.delegate.events.compactMap(\.requestIdentifier)
        #expect(heard == order.map { requests[$0].uniqueIdentifier })
    }

    @Test func `current requests are the loads without an outcome, oldest first`() {
        let seen = Locked<[[String]]>([])
        let loader = Locked<DataLoader?>(nil)
        let delegate = RecordingDelegate(onEvent: { _ in
            let paths = loader.withLock { $0 }?.currentRequests.map(\.url.path) ?? []
            seen.withLock { $0.append(paths) }
        })
        let bed = TestBed(delegate: delegate)
        loader.withLock { $0 = bed.loader }
        for path in ["/a", "/b", "/c"] { bed.loader.perform(.make(path)) }
        #expect(bed.loader.currentRequests.map(\.url.path) == ["/a", "/b", "/c"])
        bed.transport.attempts[1].respond(status: 200)
        bed.settle()
        bed.transport.attempts[0].fail(.dns)
        bed.settle()
        bed.loader.cancelAllLoads()
        bed.settle()
        #expect(seen.withLock { $0 } == [["/a", "/c"], ["/c"], []])
        loader.withLock { $0 = nil }
        bed.expectNothingLeft()
    }

    // The same request value performed twice.
    @Test func `a request that is performed twice makes two loads`() {
        let bed = TestBed()
        let request = DataLoaderRequest.make()
        let first = bed.loader.perform(request)
        let second = bed.loader.perform(request)
        #expect(bed.loader.currentRequests.count == 2)
        first.cancel()
        bed.settle()
        #expect(!second.isCancelled)
        bed.transport.attempts[1].respond(status: 200)
        bed.settle()
        #expect(bed.delegate.events.count == 2)
        bed.expectNothingLeft()
    }

    @Test func `a load ends without a delegate and after its delegate has gone`() async {
        let bed = TestBed(otherwise: .respond(status: 200))
        bed.loader.delegate = nil
        bed.loader.perform(.make())
        bed.loader.perform(.make { $0.chunks = true })
        bed.loader.perform(.make()).cancel()
        do {
            bed.loader.delegate = RecordingDelegate()
        }
        bed.loader.perform(.make())
        #expect(await bed.observer.entries(4).count == 4)
        #expect(bed.delegate.events.isEmpty)
        bed.expectNothingLeft()
    }
}
