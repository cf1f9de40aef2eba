// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl
import Foundation

extension CurlLoop {
    func start(_ task: CurlTask) {
        guard !task.isCancelled else { return fail(task, .cancelled) }
        guard task.request.cachePolicy != .cacheOnly else { return fail(task, .notCached) }
        guard let transfer = pool.take(for: task.request) ?? CurlTransfer.make(for: self) else {
            return fail(task, .resources(reason: "memory"))
        }
        do throws(RequestFault) {
            try transfer.begin(task)
        } catch {
            transfer.end()
            keep(transfer)
            return fail(task, .invalidRequest(error))
        }
        running[ObjectIdentifier(task)] = transfer
        scheduleCheck(at: transfer.state.connectDeadline)
        prepare(transfer)
    }

    /// Opens the body first, when that is a file or stream.
    private func prepare(_ transfer: CurlTransfer) {
        guard let task = transfer.task else { return }
        guard let body = task.request.body else { return chooseRoute(for: transfer) }
        guard let bytes = body.bytes else {
            transfer.phase = .preparing
            transfer.state.feed = BodyFeed(body, readers: readers) {
                task.mailbox.post(.bodyReady(task))
            }
            return
        }
        if bytes.count > CurlTransfer.copiedBodySize { transfer.state.data = bytes }
        chooseRoute(for: transfer)
    }

    func bodyReady(_ task: CurlTask) {
        guard let transfer = running[ObjectIdentifier(task)] else { return }
        switch transfer.phase {
        case .preparing:
            if let failure = transfer.state.feed?.failure {
                return finish(transfer, failure)
            }
            // The time to open the body does not count against the connect limit.
            transfer.state.connectDeadline = LoopClock.instant(
                now, after: task.request.connectTimeout)
            scheduleCheck(at: transfer.state.connectDeadline)
            chooseRoute(for: transfer)
        case .running: unpause(transfer)
        default: break
        }
    }

    /// Looks up the peer's name, and runs the transfer with its addresses.
    func resolve(_ transfer: CurlTransfer) {
        guard let task = transfer.task, let name = transfer.nameToResolve else {
            return run(transfer, addresses: nil)
        }
        transfer.phase = .resolving(name)
        transfer.state.lookupStart = now
        switch names.find(name, for: task, now: now) {
        case .addresses(let addresses): run(transfer, addresses: addresses)
        case .stale(let addresses):
            lookUp(name)
            run(transfer, addresses: addresses)
        case .failed(let error): finish(transfer, error)
        case .pending(let isNew):
            if isNew { lookUp(name) }
            scheduleDeadlineCheck(transfer)
        }
    }

    /// Hands a transfer to libcurl.
    func run(_ transfer: CurlTransfer, addresses: String?) {
        separateProxyUses(of: transfer)
        guard let multi = multi(for: transfer) else {
            return finish(transfer, .resources(reason: "memory or file descriptors"))
        }
        do throws(DataLoaderError) {
            try transfer.apply(addresses: addresses, in: multi)
        } catch {
            return finish(transfer, error)
        }
        transfer.state.handedOver = LoopClock.now
        transfer.state.response.allowsHTTP2 = transfer.state.routing.isHTTP2
        guard multi.add(transfer.easy) else {
            return finish(transfer, .resources(reason: "memory"))
        }
        transfer.phase = .running(multi)
        // Such a libcurl does not report when it writes the request.
        if !library.canRefuseSends { _ = transfer.task?.beginSending() }
        if !library.canRefuseSends || transfer.state.routing.isProbe {
            scheduleDeadlineCheck(transfer)
        }
        // Whether it joins a connection or opens one shows at once, and the next attempts may
        // join it.
        if transfer.state.routing.isHTTP2 { multi.actIfDue(uptime: uptime) }
    }

    func cancel(_ task: CurlTask) {
        guard let transfer = running[ObjectIdentifier(task)] else { return }
        finish(transfer, .cancelled)
    }

    func resume(_ task: CurlTask) {
        guard let transfer = running[ObjectIdentifier(task)], !task.isPaused else { return }
        transfer.state.lastActivity = now
        scheduleDeadlineCheck(transfer)
        if transfer.state.isUndecoded {
            do throws(DataLoaderError) {
                try transfer.decode()
            } catch {
                return finish(transfer, error)
            }
            guard !transfer.state.isUndecoded else { return }
        }
        if let result = transfer.state.result {
            finish(transfer, transfer.outcome(result))
        } else if transfer.state.isHeldBack, case .running = transfer.phase {
            transfer.state.isHeldBack = false
            unpause(transfer)
        }
    }

    /// Makes libcurl ask for the body again, and deliver what it holds unless the attempt is
    /// paused.
    func unpause(_ transfer: CurlTransfer) {
        let result = ccurl_easy_pause(transfer.easy, transfer.state.isHeldBack ? 1 : 0)
        // libcurl loses bytes that are refused here and continues behind them.
        if result == CurlSignal.writeError { finish(transfer, transfer.outcome(result)) }
    }

    /// Finishes the transfers that libcurl has ended; returns whether there were any.
    @discardableResult func finishDone() -> Bool {
        var isAny = false
        for multi in http1.all where finishDone(of: multi) { isAny = true }
        if let http2, finishDone(of: http2) { isAny = true }
        for old in retired where finishDone(of: old) { isAny = true }
        return isAny
    }

    private func finishDone(of multi: CurlMulti) -> Bool {
        var result: Int32 = 0
        var isAny = false
        while let easy = ccurl_multi_done(multi.handle, &result) {
            isAny = true
            guard let transfer = transfer(of: easy) else { continue }
            transfer.state.routing.isOver = true
            guard !transfer.state.routing.isOnBusyConnection else {
                sendElsewhere(transfer)
                continue
            }
            guard !transfer.state.routing.hasEnded else {
                startAgain(transfer)
                continue
            }
            guard result == 0 || !canEndProbe(transfer) else {
                endProbe(transfer)
                continue
            }
            if transfer.state.isUndecoded && result == 0
                || transfer.holdsEarlyResponse(after: result)
            {
                transfer.state.result = result
            } else {
                finish(transfer, transfer.outcome(result))
            }
        }
        return isAny
    }

    private func transfer(of easy: OpaquePointer) -> CurlTransfer? {
        var context: UnsafePointer<CChar>?
        guard ccurl_get_text(easy, CurlInfo.context, &context) == 0 else { return nil }
        return CurlTransfer.from(UnsafeMutableRawPointer(mutating: context))
    }

    /// Ends an attempt that has a transfer, with success when the error is nil; every end of
    /// such an attempt comes through here.
    func finish(_ transfer: CurlTransfer, _ error: DataLoaderError?) {
        guard let task = transfer.task,
            running.removeValue(forKey: ObjectIdentifier(task)) != nil
        else { return }
        if task.request.body != nil {
            awaitingBodies[ObjectIdentifier(task)] = nil
            answeredUploads[ObjectIdentifier(task)] = nil
        }
        transfer.handOnCollected()
        transfer.noteUnreportedSend()
        transfer.leaveName(sends: false)
        endSharing(by: transfer)
        let error = task.isCancelled && error != nil ? .cancelled : error
        let report = transfer.makeReport()
        let sent = transfer.sent
        leave(transfer, ObjectIdentifier(task))
        switch transfer.phase {
        case .running(let multi):
            multi.remove(transfer.easy)
            noteIdle(multi, after: transfer, failed: error != nil)
        case .resolving(let name):
            names.stopWaiting(task, for: name)
            // A name that no attempt waits for must not delay other look-ups.
            if !names.isAwaited(name), resolver.forget(name) { names.abandon(name) }
        default: break
        }
        if error == .connectRefused || error == .connectTimeout,
            let name = transfer.nameToResolve
        {
            names.markStale(name, now: now)
        }
        let named = error.map(transfer.naming)
        recycle(transfer, failed: error != nil)
        if let named {
            task.sink.didFail(TransportFailure(named, sent: sent, report: report))
        } else {
            task.sink.didEnd(report)
        }
    }

    private func recycle(_ transfer: CurlTransfer, failed: Bool) {
        let isReusable = !failed && transfer.isReusable && transfer.state.resets == resets
        transfer.end()
        if isReusable { keep(transfer) } else { transfer.free() }
    }

    /// Keeps a handle for a later attempt.
    private func keep(_ transfer: CurlTransfer) {
        for other in pool.put(transfer, running: running.count, now: now) { other.free() }
    }

    private func fail(_ task: CurlTask, _ error: DataLoaderError) {
        task.sink.didFail(TransportFailure(error, sent: .nothingWritten))
    }
}
