// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
public import DataLoading
import Dispatch
public import Foundation

/// A transport that answers from a list, and then with one fallback answer.
///
/// ```swift
/// let transport = ScriptedTransport([.fail(.connectRefused), .respond(status: 200)])
/// ```
/// It records every attempt, and reads a one-shot body as a transport that sends it does;
/// `ScriptedAttempt.readBody()` returns the bytes of any body. Answers are delivered on a private
/// serial queue, never inline in `start`. `.cacheOnly` attempts fail with `.notCached`, as with the
/// library's network transports.
public final class ScriptedTransport: Transport {
    private struct State: Sendable {
        var answers: [ScriptedAnswer]
        var next = 0
        var resets = 0
        var isShutDown = false
    }

    private let state: Locked<State>
    private let fallback: ScriptedAnswer
    private let started = EventRecorder<ScriptedAttempt>()
    let queue = DispatchQueue(label: "DataLoading.scripted")

    /// Makes a transport.
    ///
    /// - Parameters:
    ///   - answers: The answers to the first attempts, in the order in which they start.
    ///   - fallback: The answer to all others; by default none until the test drives the attempt.
    public init(_ answers: [ScriptedAnswer] = [], otherwise fallback: ScriptedAnswer = .hold) {
        state = Locked(State(answers: answers))
        self.fallback = fallback
        queue.setSpecific(key: ScriptedAttempt.mark, value: ObjectIdentifier(queue))
    }

    /// Every attempt so far.
    public var attempts: [ScriptedAttempt] { started.elements }

    /// Returns the attempts once at least `count` have started.
    public func attempts(_ count: Int) async -> [ScriptedAttempt] { await started.first(count) }

    /// The number of resets.
    public var resetCount: Int { state.withLock { $0.resets } }

    /// Whether it was shut down.
    public var isShutDown: Bool { state.withLock { $0.isShutDown } }

    /// Returns when every answer and cancellation so far has been delivered.
    public func flush() { queue.sync {} }

    /// Appends an answer for a future attempt.
    public func then(_ answer: ScriptedAnswer) {
        state.withLock { $0.answers.append(answer) }
    }

    /// Records the attempt and performs its answer.
    public func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        let answer = state.withLock { state -> ScriptedAnswer in
            if state.isShutDown { return .fail(.serviceInvalidated) }
            if attempt.cachePolicy == .cacheOnly { return .fail(.notCached) }
            guard state.next < state.answers.count else { return fallback }
            defer { state.next += 1 }
            return state.answers[state.next]
        }
        let task = ScriptedAttempt(request: attempt, sink: sink, queue: queue)
        started.record(task)
        queue.async { answer.give(to: task) }
        return task
    }

    /// Counts the reset.
    public func reset() async {
        state.withLock { $0.resets += 1 }
    }

    /// Fails later attempts with `.serviceInvalidated`.
    public func shutDown() async {
        state.withLock { $0.isShutDown = true }
    }
}

/// The answer to a scripted attempt.
public enum ScriptedAnswer: Sendable {
    /// A complete response.
    case respond(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: Data = Data())
    /// A failure, with how much of the request was sent.
    case fail(DataLoaderError.Kind, sent: SentState = .nothingWritten)
    /// No answer: the test drives the attempt.
    case hold
    /// A closure that drives the attempt; called on the transport's queue.
    case run(@Sendable (ScriptedAttempt) -> Void)

    func give(to attempt: ScriptedAttempt) {
        switch self {
        case .respond(let status, let headers, let body):
            attempt.deliverHead(status, headers)
            if !body.isEmpty { attempt.deliverBody(body) }
            attempt.deliverEnd()
        case .fail(let kind, let sent):
            attempt.deliverFailure(DataLoaderError(kind), sent)
        case .hold:
            break
        case .run(let body):
            body(attempt)
        }
    }
}
