// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingTransport
    import DataLoadingSupport
    import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation

    /// A transport that breaks one rule of the contract, around one that keeps it.
    final class FlawedTransport: Transport {
        enum Flaw: String, CaseIterable, Sendable {
            case startsInline, endsTwice, bytesAfterEnd, bytesBeforeHead, headTwice, noHead
            case informationalHead, twoThreads, losesBytes, losesTheEnd, keepsCookies,
                followsRedirects
            case retries, completesTruncated, ignoresCancel, cancelsAsTimeout, locks, ignoresPause
            case loads, ignoresReset, ignoresShutDown
        }

        let flaw: Flaw
        let base = CurlTransport()
        private let cookie = Locked<String?>(nil)
        private let first = Locked<Void?>(())

        init(_ flaw: Flaw) {
            self.flaw = flaw
        }

        func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
            var attempt = attempt
            if flaw == .keepsCookies, let cookie = cookie.withLock({ $0 }) {
                attempt.headers["Cookie"] = cookie
            }
            if flaw == .loads { attempt.cachePolicy = .useProtocolPolicy }
            if flaw == .startsInline { sink.didReceive(ResponseHead(status: 200)) }
            let middle = FlawedSink(self, attempt, sink)
            return FlawedTask(base.start(attempt, sink: middle), self, middle)
        }

        /// Starts another attempt for the same sink.
        func again(_ attempt: TransportRequest, for sink: FlawedSink) {
            _ = base.start(attempt, sink: sink)
        }

        func note(cookie value: String?) { cookie.withLock { $0 = value } }

        /// Whether this is the first call.
        func isFirst() -> Bool { first.withLock { $0.take() } != nil }

        func reset() async {
            if flaw != .ignoresReset { await base.reset() }
        }

        func shutDown() async {
            if flaw != .ignoresShutDown { await base.shutDown() }
        }
    }

    private final class FlawedTask: TransportTask {
        private let base: any TransportTask
        private let transport: FlawedTransport
        /// Not the sink, which would retain the task in a cycle.
        private let isBusy: DispatchSemaphore

        init(_ base: any TransportTask, _ transport: FlawedTransport, _ sink: FlawedSink) {
            self.base = base
            self.transport = transport
            isBusy = sink.isBusy
        }

        func cancel() {
            guard transport.flaw != .ignoresCancel else { return }
            // A lock that is given up at last, so that the test leaves no blocked thread: later than the
            // limit of the check, whose 500 ms may become 5 s where the pool is full.
            if transport.flaw == .locks { _ = isBusy.wait(timeout: .now() + 6) }
            base.cancel()
        }

        func pause() {
            if transport.flaw != .ignoresPause { base.pause() }
        }

        func resume() { base.resume() }
    }

    final class FlawedSink: TransportSink {
        let isBusy = DispatchSemaphore(value: 0)
        private let transport: FlawedTransport
        private let attempt: TransportRequest
        private let base: any TransportSink
        private let isSecond = Locked(false)

        init(_ transport: FlawedTransport, _ attempt: TransportRequest, _ base: any TransportSink) {
            self.transport = transport
            self.attempt = attempt
            self.base = base
        }

        private var flaw: FlawedTransport.Flaw { transport.flaw }

        func didReceive(_ head: ResponseHead) {
            switch flaw {
            case .keepsCookies:
                transport.note(cookie: head.headers["Set-Cookie"])
            case .followsRedirects where head.status == 302, .retries where head.status == 503:
                return isSecond.withLock { $0 = true }
            case .bytesBeforeHead: base.didReceive(Data("x".utf8))
            case .headTwice: base.didReceive(head)
            case .informationalHead: base.didReceive(ResponseHead(status: 103))
            case .noHead, .startsInline: return
            default: break
            }
            base.didReceive(head)
        }

        func didReceive(_ bytes: Data) {
            switch flaw {
            case .losesBytes: return
            case .twoThreads:
                if transport.isFirst() { overlapCalls() }
                base.didReceive(bytes)
            default: base.didReceive(bytes)
            }
        }

        /// Calls the sink from two threads often enough that calls overlap on one processor too,
        /// where one of them has to be interrupted.
        private func overlapCalls() {
            let arrived = DispatchSemaphore(value: 0)
            let mayCall = DispatchSemaphore(value: 0)
            let group = DispatchGroup()
            for _ in 0..<2 {
                DispatchQueue.global().async(group: group) {
                    arrived.signal()
                    mayCall.wait()
                    for _ in 0..<20_000 { self.base.didReceive(Data()) }
                }
            }
            for _ in 0..<2 { arrived.wait() }
            for _ in 0..<2 { mayCall.signal() }
            group.wait()
        }

        func didEnd(_ report: TransportReport) {
            if isSecond.withLock({ $0.take() }) {
                var next = attempt
                if flaw == .followsRedirects {
                    next.url = next.url.deletingLastPathComponent().appending(path: "target")
                }
                return transport.again(next, for: self)
            }
            if flaw == .losesTheEnd { return }
            base.didEnd(report)
            if flaw == .endsTwice { base.didEnd(report) }
            if flaw == .bytesAfterEnd { base.didReceive(Data("x".utf8)) }
        }

        func didFail(_ failure: TransportFailure) {
            if flaw == .completesTruncated, failure.error != .cancelled {
                return base.didEnd(failure.report)
            }
            var failure = failure
            if flaw == .cancelsAsTimeout, failure.error == .cancelled {
                failure.error = .idleTimeout
            }
            base.didFail(failure)
        }
    }

    extension Bool {
        /// Returns the value and sets it to false.
        fileprivate mutating func take() -> Bool {
            defer { self = false }
            return self
        }
    }
#endif
