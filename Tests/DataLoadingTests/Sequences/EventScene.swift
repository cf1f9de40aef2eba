// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

/// A task that reads an event stream on a test bed, and records what it gets.
struct EventScene: Sendable {
    let bed: TestBed
    let events = EventRecorder<ServerSentEvent>()
    private let end = Locked<(any Error)?>(nil)

    /// The default pauses without jitter.
    static let timer = ExponentialTimer(
        initialTime: .seconds(1), maxTime: .seconds(60), jitter: .none, growth: 2)

    init(
        _ answers: [ScriptedAnswer] = [], otherwise: ScriptedAnswer = .hold,
        authorisers: [any Authoriser] = [],
        _ configure: (inout DataLoaderService.Configuration) -> Void = { _ in }
    ) {
        bed = TestBed(answers, otherwise: otherwise, authorisers: authorisers, configure)
    }

    /// Starts to read; the task ends with the error of the sequence, or nil at its end.
    func read(
        _ request: DataLoaderRequest = .make(), reconnect: ExponentialTimer? = timer,
        maxEventSize: Int = 1_000
    ) -> Task<(any Error)?, Never> {
        let sequence = bed.loader.events(
            for: request, reconnect: reconnect, maxEventSize: maxEventSize)
        return Task { [events] in
            do {
                for try await event in sequence { events.record(event) }
                return nil
            } catch {
                return error
            }
        }
    }

    /// Waits for the pause before the next connection; returns its length.
    func pause() async -> Duration {
        let runtime = bed.service.runtime
        // A load has no timer any more when the pause after it begins.
        await eventually { !runtime.contexts.pauses.isEmpty && runtime.timerQueue.count == 1 }
        return (runtime.timerQueue.earliest ?? runtime.timerQueue.now) - runtime.timerQueue.now
    }

    /// Waits for a pause and ends it; returns its length.
    @discardableResult func passPause() async -> Duration {
        let pause = await pause()
        bed.clock.advance(by: pause)
        return pause
    }

    /// The value of a field in the request of an attempt, once the attempt has started.
    func field(_ name: String, ofAttempt index: Int) async -> String? {
        await bed.attempt(index).request.headers[name]
    }
}

extension ScriptedAnswer {
    /// A whole response that is an event stream.
    static func events(_ text: String) -> Self {
        .respond(
            status: 200, headers: ["Content-Type": "text/event-stream"], body: Data(text.utf8))
    }
}

extension ScriptedAttempt {
    /// Sends the head of an event stream, and the text that follows it.
    func sendEvents(_ text: String) {
        sendHead(status: 200, headers: ["Content-Type": "text/event-stream; charset=utf-8"])
        if !text.isEmpty { send(Data(text.utf8)) }
    }
}
