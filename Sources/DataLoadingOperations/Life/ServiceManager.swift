// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Tells systemd about the life of the process: started, reloading, ending, still working.
///
/// Messages arrive in the order of the calls, whichever threads call. What the life of the process
/// depends on waits for a busy systemd, two seconds at most, and three times, because it would
/// not be sent again; the rest is sent at once or not at all. One that systemd does not take then
/// is counted. Without systemd every call does nothing.
final class ServiceManager: Sendable {
    private enum Stage {
        case starting
        case ready
        case reloading
        case stopping
    }

    /// How many messages may wait behind one that systemd does not take.
    private static let maxWaiting = 64
    /// How often a message that must arrive is sent to a systemd that is busy.
    private static let maxAttempts = 3

    private struct State {
        var stage = Stage.starting
        var waiting = FIFO<ServiceMessage>()
        /// Whether a thread sends what waits.
        var isSending = false
        var failures = 0
    }

    private let socket: NotifySocket?
    private let state = Locked(State())

    /// Takes the address from `NOTIFY_SOCKET` in the environment of the process.
    ///
    /// A message that must arrive waits for `patience` each time.
    init(environment: [String: String], patience: Duration = .seconds(2)) {
        socket = environment["NOTIFY_SOCKET"].flatMap { NotifySocket($0, patience: patience) }
    }

    /// Whether systemd has named a socket for messages.
    var isPresent: Bool { socket != nil }

    /// The number of messages that could not be sent.
    var failures: Int { state.withLock { $0.failures } }

    /// The service has started, or has ended a reload; no effect otherwise.
    func ready() {
        send(.ready) { stage in
            guard stage == .starting || stage == .reloading else { return false }
            stage = .ready
            return true
        }
    }

    /// The service begins to read its configuration again; no effect before `ready()`.
    ///
    /// `ready()` ends it, also after a reload that failed.
    func reloading() {
        send(.reloading(microseconds: ServiceMessage.monotonicMicroseconds)) { stage in
            guard stage == .ready else { return false }
            stage = .reloading
            return true
        }
    }

    /// The service is ending; only the status and more time are told after that.
    func stopping() {
        send(.stopping) { stage in
            guard stage != .stopping else { return false }
            stage = .stopping
            return true
        }
    }

    /// Shows a sentence in `systemctl status`.
    func status(_ text: String) { send(.status(text)) }

    /// Starting, reloading or ending may take so much longer from now on.
    func extendTimeout(by duration: Duration) { send(.extendTimeout(duration)) }

    /// The service works.
    ///
    /// One that is ending says so no more: systemd has stopped its watchdog, and each of these messages
    /// starts it anew.
    func pingWatchdog() { send(.watchdog) { $0 != .stopping } }

    /// Sends a message, if the stage allows it and after all earlier ones.
    private func send(
        _ message: ServiceMessage, if isAllowed: (inout Stage) -> Bool = { _ in true }
    ) {
        guard let socket else { return }
        let sends = state.withLock { state in
            guard isAllowed(&state.stage) else { return false }
            guard message.mustArrive || state.waiting.count < Self.maxWaiting else {
                state.failures += 1
                return false
            }
            state.waiting.append(message)
            defer { state.isSending = true }
            return !state.isSending
        }
        guard sends else { return }
        while let next = takeNext() {
            guard !Self.send(next, to: socket) else { continue }
            state.withLock { $0.failures += 1 }
        }
    }

    /// Sends a message as often as it may need; false when it was not taken.
    private static func send(_ message: ServiceMessage, to socket: NotifySocket) -> Bool {
        for _ in 0..<(message.mustArrive ? maxAttempts : 1) {
            switch socket.send(message.text, waits: message.mustArrive) {
            case .taken: return true
            case .busy: continue
            case .failed: return false
            }
        }
        return false
    }

    private func takeNext() -> ServiceMessage? {
        state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.isSending = false }
            return next
        }
    }
}
