// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import CCurl

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

extension CurlLoop {
    /// Schedules a check of the deadlines at an instant, or earlier.
    func scheduleCheck(at deadline: Int64) {
        nextCheck = min(nextCheck, deadline)
    }

    func scheduleDeadlineCheck(_ transfer: CurlTransfer) {
        scheduleCheck(at: deadline(of: transfer))
    }

    /// Ends the transfers whose limits have passed.
    ///
    /// No transfer has a timer. Activity only updates a timestamp, and each check computes the
    /// next instant at which a limit can pass, so checks are as rare as limits are long.
    func checkDeadlines() {
        guard nextCheck <= now else { return }
        var next = Int64.max
        var late: [CurlTransfer] = []
        for transfer in running.values {
            let deadline = deadline(of: transfer)
            if deadline <= now {
                late.append(transfer)
            } else {
                next = min(next, deadline)
            }
        }
        // Checks that would follow each other closely are joined: limits are precise to 2 ms.
        let soonest = now &+ 2_000_000
        nextCheck = max(next, soonest)
        for transfer in late {
            // The end of one transfer may have extended the deadline of another.
            if deadline(of: transfer) <= now { expire(transfer) }
            // One that continues, with stale addresses of its name for example, has another limit.
            scheduleCheck(at: max(deadline(of: transfer), soonest))
        }
    }

    private func deadline(of transfer: CurlTransfer) -> Int64 {
        guard let task = transfer.task else { return .max }
        switch transfer.phase {
        case .idle: return .max
        case .preparing, .waiting: return transfer.state.connectDeadline
        case .resolving(let name):
            return min(
                transfer.state.connectDeadline,
                names.staleAnswerDeadline(name, since: transfer.state.lookupStart, now: now))
        case .running: break
        }
        transfer.noteUnreportedSend()
        if transfer.state.sends == 0 {
            let limit = min(transfer.state.connectDeadline, probeDeadline(transfer))
            // libcurl does not report such a send, so it is detected before the idle limit can
            // pass.
            return library.canRefuseSends
                ? limit : min(limit, now.addingSaturated(transfer.state.idleLimit))
        }
        guard !task.isPaused else { return .max }
        let (deadline, overflow) = transfer.state.lastActivity.addingReportingOverflow(
            transfer.state.idleLimit)
        return overflow ? .max : deadline
    }

    private func expire(_ transfer: CurlTransfer) {
        switch transfer.phase {
        case .preparing:
            let waits = transfer.state.feed?.isWaitingForReader == true
            finish(
                transfer,
                waits
                    ? BodyReaders.refusal
                    : .requestBody(reason: "no byte of the body within the connect limit"))
        case .resolving(let name): resolveWithoutAnswer(transfer, name)
        case .waiting: finish(transfer, .connectTimeout)
        case .running where transfer.state.sends == 0:
            guard now < transfer.state.connectDeadline else {
                return finish(transfer, .connectTimeout)
            }
            if canEndProbe(transfer) {
                endProbe(transfer)
            } else {
                scheduleDeadlineCheck(transfer)
            }
        case .running:
            let socket = socket(of: transfer)
            guard !isDraining(transfer, socket) else { return scheduleDeadlineCheck(transfer) }
            let generation = socket.map { sockets[Int($0)].generation }
            let isUpload = transfer.task?.request.body != nil
            let isExpected = othersMayWaitLonger(than: transfer)
            finish(transfer, .idleTimeout)
            if let socket, generation == sockets[Int(socket)].generation {
                shutDownSilentConnection(socket, isUpload: isUpload, isExpected: isExpected)
            }
        default: break
        }
    }

    /// Whether the peer has acknowledged bytes in the kernel's send buffer since the limit last
    /// passed, which libcurl cannot see.
    private func isDraining(_ transfer: CurlTransfer, _ socket: Int32?) -> Bool {
        guard transfer.task?.request.body != nil, let socket else { return false }
        let left = ccurl_unacknowledged(socket)
        defer { transfer.state.unacknowledged = left }
        guard left >= 0, left != transfer.state.unacknowledged else { return false }
        transfer.state.lastActivity = now
        return true
    }

    /// Whether another transfer on the connection of this one may wait longer: its idle limit is longer,
    /// or it began later.
    private func othersMayWaitLonger(than transfer: CurlTransfer) -> Bool {
        guard let connection = transfer.state.connection else { return false }
        return running.values.contains { other in
            other !== transfer && other.state.connection == connection && deadline(of: other) > now
        }
    }

    /// Shuts down the connection of a transfer that timed out, if the whole connection is
    /// silent.
    ///
    /// Such a connection is one of HTTP/2, on which every later load would time out as well.
    /// libcurl then sees it end, also for the other streams on it.
    ///
    /// A connection on which other streams receive bytes, while an upload on it made no
    /// progress, is kept for those streams. No later load joins it or any other connection of
    /// HTTP/2, because libcurl cannot exclude a single connection. Where a server does not
    /// return flow-control credit for the body that it drops (haproxy 2.6.12), no window opens
    /// on that connection any more, and every later upload would time out.
    ///
    /// The silence is expected where another stream may wait longer: that one is left alone, and
    /// later loads use another connection.
    private func shutDownSilentConnection(
        _ socket: Int32, isUpload: Bool, isExpected: Bool
    ) {
        let entry = sockets[Int(socket)]
        let isSilent = now &- entry.lastReadable >= 1_000_000_000
        if isSilent, !isExpected {
            shutdown(socket, Int32(SHUT_RDWR))
        } else if isUpload || isSilent, http2Sockets[socket] != nil, entry.owner === http2 {
            retireHTTP2()
        }
    }
}
