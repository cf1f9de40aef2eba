// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl
    import Foundation

    extension CurlLoop {
        /// Handles that are kept for later attempts.
        private static let poolLimit = 64

        func start(_ task: CurlTask) {
            guard !task.isCancelled else { return fail(task, .cancelled) }
            guard task.request.cachePolicy != .cacheOnly else { return fail(task, .notCached) }
            guard let transfer = pool.popLast() ?? CurlTransfer.make(for: self) else {
                return fail(task, .resources(reason: "memory"))
            }
            do throws(RequestFault) {
                try transfer.begin(task)
            } catch {
                transfer.end()
                pool.append(transfer)
                return fail(task, .invalidRequest(error))
            }
            running[ObjectIdentifier(task)] = transfer
            expect(transfer.attempt.connectDeadline)
            prepare(transfer)
        }

        /// Opens the body, when that is a file or stream, before anything else is done.
        private func prepare(_ transfer: CurlTransfer) {
            guard let task = transfer.task else { return }
            guard let body = task.request.body else { return direct(transfer) }
            guard let bytes = body.bytes else {
                transfer.phase = .preparing
                transfer.attempt.feed = BodyFeed(body, readers: readers) {
                    task.mailbox.post(.bodyReady(task))
                }
                return
            }
            if bytes.count > CurlTransfer.copiedBodySize { transfer.attempt.data = bytes }
            direct(transfer)
        }

        func bodyReady(_ task: CurlTask) {
            guard let transfer = running[ObjectIdentifier(task)] else { return }
            switch transfer.phase {
            case .preparing:
                if let failure = transfer.attempt.feed?.failure {
                    return finish(transfer, failure)
                }
                // Opening it may have taken its time; connecting still has all of its own.
                transfer.attempt.connectDeadline = LoopClock.instant(
                    now, after: task.request.connectTimeout)
                expect(transfer.attempt.connectDeadline)
                direct(transfer)
            case .running: unpause(transfer)
            default: break
            }
        }

        /// Looks the peer's name up, and sends.
        func resolve(_ transfer: CurlTransfer) {
            guard let task = transfer.task, let name = transfer.nameToResolve else {
                return run(transfer, addresses: nil)
            }
            transfer.phase = .resolving(name)
            transfer.attempt.lookupStart = now
            switch names.find(name, for: task, now: now) {
            case .addresses(let addresses): run(transfer, addresses: addresses)
            case .stale(let addresses):
                lookUp(name)
                run(transfer, addresses: addresses)
            case .failed(let error): finish(transfer, error)
            case .pending(let isNew):
                if isNew { lookUp(name) }
                expectActivity(transfer)
            }
        }

        /// Gives a transfer to libcurl.
        func run(_ transfer: CurlTransfer, addresses: String?) {
            guard let multi = multi(for: transfer) else {
                return finish(transfer, .resources(reason: "memory"))
            }
            do throws(DataLoaderError) {
                try transfer.apply(addresses: addresses, in: multi)
            } catch {
                return finish(transfer, error)
            }
            transfer.attempt.handedOver = LoopClock.now
            transfer.attempt.response.allowsHTTP2 = transfer.attempt.place.isHTTP2
            guard multi.add(transfer.easy) else {
                return finish(transfer, .resources(reason: "memory"))
            }
            transfer.phase = .running(multi)
            // Nothing will say when it is written.
            if !library.seesSends { _ = transfer.task?.beginSending() }
            if !library.seesSends || transfer.attempt.place.isProbe { expectActivity(transfer) }
            // Whether it joins a connection or makes one shows at once: the next ones may join it.
            if transfer.attempt.place.isHTTP2 { multi.actIfDue(uptime: uptime) }
        }

        func cancel(_ task: CurlTask) {
            guard let transfer = running[ObjectIdentifier(task)] else { return }
            finish(transfer, .cancelled)
        }

        func resume(_ task: CurlTask) {
            guard let transfer = running[ObjectIdentifier(task)], !task.isPaused else { return }
            transfer.attempt.lastActivity = now
            expectActivity(transfer)
            if transfer.attempt.isUndecoded {
                do throws(DataLoaderError) {
                    try transfer.decode()
                } catch {
                    return finish(transfer, error)
                }
                guard !transfer.attempt.isUndecoded else { return }
            }
            if let result = transfer.attempt.result {
                finish(transfer, transfer.outcome(result))
            } else if transfer.attempt.isHeldBack, case .running = transfer.phase {
                transfer.attempt.isHeldBack = false
                unpause(transfer)
            }
        }

        /// Lets libcurl ask for the body again, and hand over what it holds unless that is held back.
        func unpause(_ transfer: CurlTransfer) {
            let result = ccurl_easy_pause(transfer.easy, transfer.attempt.isHeldBack ? 1 : 0)
            // Bytes that are refused here are lost to libcurl, which then goes on behind them.
            if result == CurlSignal.writeError { finish(transfer, transfer.outcome(result)) }
        }

        /// Ends what libcurl has ended.
        func finishDone() {
            if let http1 { finishDone(of: http1) }
            if let http2 { finishDone(of: http2) }
            for old in retired { finishDone(of: old) }
        }

        private func finishDone(of multi: CurlMulti) {
            var result: Int32 = 0
            while let easy = ccurl_multi_done(multi.handle, &result) {
                guard let transfer = transfer(of: easy) else { continue }
                transfer.attempt.place.isOver = true
                guard !transfer.attempt.place.isMisplaced else {
                    sendElsewhere(transfer)
                    continue
                }
                guard !transfer.attempt.place.hasEnded else {
                    startAgain(transfer)
                    continue
                }
                guard result == 0 || !mayLeaveProbe(transfer) else {
                    endProbe(transfer)
                    continue
                }
                if transfer.attempt.isUndecoded, result == 0 {
                    transfer.attempt.result = result
                } else {
                    finish(transfer, transfer.outcome(result))
                }
            }
        }

        private func transfer(of easy: OpaquePointer) -> CurlTransfer? {
            var context: UnsafePointer<CChar>?
            guard ccurl_get_text(easy, CurlInfo.context, &context) == 0 else { return nil }
            return CurlTransfer.from(UnsafeMutableRawPointer(mutating: context))
        }

        /// The one way out of an attempt, once it has a transfer; nil for success.
        func finish(_ transfer: CurlTransfer, _ error: DataLoaderError?) {
            guard let task = transfer.task,
                running.removeValue(forKey: ObjectIdentifier(task)) != nil
            else { return }
            awaitingBodies[ObjectIdentifier(task)] = nil
            answeredUploads[ObjectIdentifier(task)] = nil
            transfer.noteUnseenSend()
            endSharing(by: transfer)
            let error = task.isCancelled && error != nil ? .cancelled : error
            let report = transfer.makeReport()
            let sent = transfer.sent
            let trailers = HTTPHeaders(transfer.attempt.response.trailers)
            let place = transfer.attempt.place
            leave(transfer, ObjectIdentifier(task))
            switch transfer.phase {
            case .running(let multi):
                multi.remove(transfer.easy)
                // It gets no other that would find what is idle in it.
                if multi !== http1, multi !== http2 { sweepSoon() }
            case .resolving(let name):
                names.stopWaiting(task, for: name)
                // Names that nobody waits for must not keep others waiting.
                if !names.isAwaited(name), resolver.forget(name) { names.abandon(name) }
            default: break
            }
            if error == .connectRefused || error == .connectTimeout,
                let name = transfer.nameToResolve
            {
                names.doubt(name, now: now)
            }
            // The handle of an attempt whose transfer libcurl had not ended is not kept: it may hold more
            // of it than libcurl tells.
            recycle(transfer, failed: error != nil || place.closesConnection || !place.isOver)
            if let error {
                task.sink.didFail(TransportFailure(error, sent: sent, report: report))
            } else {
                task.sink.didEnd(TransportEnd(trailers: trailers, report: report))
            }
        }

        private func recycle(_ transfer: CurlTransfer, failed: Bool) {
            // A handle keeps for its next transfer that the last one's stream was refused, and how often
            // libcurl wanted to send again: at the sixth it gives up.
            let isWorn = failed || transfer.attempt.isWorn || transfer.attempt.sends != 1
            let isOutdated = transfer.attempt.resets != resets
            transfer.end()
            guard pool.count < Self.poolLimit, !isWorn, !isOutdated else { return transfer.free() }
            pool.append(transfer)
        }

        private func fail(_ task: CurlTask, _ error: DataLoaderError) {
            task.sink.didFail(TransportFailure(error, sent: .nothingWritten))
        }
    }
#endif
