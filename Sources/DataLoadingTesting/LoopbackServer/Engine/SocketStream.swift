// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSockets
import DataLoadingSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A connection in plain text.
final class SocketStream: ByteStream {
    /// The descriptor; -1 once closed, because its number may be reused for another connection.
    private let open: Locked<Int32>
    private let stop: WakePipe
    private let log: ConnectionLog
    private let timekeeper = SystemTimekeeper()

    init(descriptor: Int32, stop: WakePipe, log: ConnectionLog) {
        open = Locked(descriptor)
        self.stop = stop
        self.log = log
    }

    private var descriptor: Int32 { open.withLock { $0 } }

    func read(into bytes: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            try checkStop()
            switch SystemCall.receive(descriptor, bytes) {
            case .count(let count):
                if count > 0 { log.received(count) } else { log.clientEnded(.closed) }
                return count
            case .wouldBlock:
                awaitReadiness(for: Int32(POLLIN))
            case .failed:
                log.clientEnded(.reset)
                throw Interruption.clientGone
            }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            try checkStop()
            switch PlatformSocket.sendBytes(descriptor, UnsafeRawBufferPointer(rebasing: rest)) {
            case .count(let count):
                log.sent(count)
                rest = rest.dropFirst(count)
            case .wouldBlock:
                awaitReadiness(for: Int32(POLLOUT))
            case .failed(let code):
                // EPIPE means that an orderly close came before the reset.
                log.clientEnded(code == EPIPE ? .closed : .reset)
                throw Interruption.clientGone
            }
        }
    }

    var unconfirmedBytes: Int { PlatformSocket.unconfirmedBytes(descriptor) }

    func wait(until deadline: Instant, or wakeUp: Int32?) throws {
        var isOver = false
        while true {
            try checkStop()
            let remaining = (deadline - timekeeper.now).wholeNanoseconds
            guard remaining > 0 else { return }
            // A client that ended its side would always be ready: only a reset is news then, which
            // poll tells unasked. Once both sides have ended even that is; poll ignores -1.
            var events = [
                pollfd(stop.descriptor, for: Int32(POLLIN)),
                pollfd(
                    isOver ? -1 : descriptor, for: log.hasClientEnded ? 0 : PlatformSocket.hangUp),
                pollfd(wakeUp ?? -1, for: Int32(POLLIN)),
            ]
            // At most an hour per turn keeps the number inside the call's range.
            let milliseconds = min((remaining + 999_999) / 1_000_000, 3_600_000)
            SystemCall.awaitEvents(&events, milliseconds: Int32(milliseconds))
            if events[1].isReady {
                let isReset = events[1].has(Int32(POLLERR))
                isOver = log.hasClientEnded
                log.clientEnded(isReset ? .reset : .closed)
                if isReset { throw Interruption.clientGone }
            }
            if events[2].isReady { return }
        }
    }

    func waitForClient() throws {
        while !log.hasClientEnded {
            try checkStop()
            var events = [
                pollfd(stop.descriptor, for: Int32(POLLIN)),
                pollfd(descriptor, for: PlatformSocket.hangUp),
            ]
            SystemCall.awaitEvents(&events, milliseconds: -1)
            if events[1].isReady {
                log.clientEnded(events[1].has(Int32(POLLERR)) ? .reset : .closed)
            }
        }
        throw Interruption.clientGone
    }

    func finishWriting() {
        ListeningSocket.finishWriting(descriptor)
    }

    func dropArrived() {
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { bytes in
            while case .count(let count) = SystemCall.receive(descriptor, bytes), count > 0 {}
        }
    }

    func close(resetting: Bool) {
        let descriptor = open.withLock { descriptor in
            defer { descriptor = -1 }
            return descriptor
        }
        guard descriptor >= 0 else { return }
        if resetting { ListeningSocket.resetOnClose(descriptor) }
        SystemCall.release(descriptor)
        log.serverEnded()
    }

    private func awaitReadiness(for event: Int32) {
        var events = [
            pollfd(stop.descriptor, for: Int32(POLLIN)), pollfd(descriptor, for: event),
        ]
        SystemCall.awaitEvents(&events, milliseconds: -1)
    }

    private func checkStop() throws {
        if stop.isFired { throw Interruption.stopped }
    }
}
