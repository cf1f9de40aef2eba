// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// What happens in the daemon.
enum Event: Sendable {
    /// A load ended; sent by the consumption observer.
    case ended(DataLoaderResponse, down: Int64, up: Int64)
    /// A feature received a value; sent by the feature.
    case loaded(DataLoaderRequest, summary: String)
    /// A feature received a piece of a body.
    case chunk(feature: String)
    /// A part of the program has something to print.
    case note(who: String, what: String)
    /// The authoriser replaced a token that the server had refused.
    case tokenRenewed
    /// The embedded origin was asked for the rest of a file, from this byte on.
    case resumed(at: Int)
    /// The server saw a dropped feature's socket close.
    case socketClosed(feature: String, after: Duration)
    /// The scenario drops a feature.
    case drop(feature: String)
    /// The scenario makes a dropped feature again.
    case revive(feature: String)
    /// A server's `Retry-After` began to hold a feature back.
    case held(feature: String, for: Duration)
    /// A feature that was held back may send again.
    case released(feature: String)
    /// Where the rates of a fleet come from has changed, or how many share them.
    case fleet(FleetState)
    /// A request arrived at the origin that counts.
    case arrived(at: ContinuousClock.Instant)
    /// A tenth of a second is over.
    case tick
    /// The daemon has to read its file again.
    case hangup
    /// The daemon has to end.
    case stop(reason: String)
    /// The service is shut down, and its observers were called for the last time.
    case stopped
}

/// Carries events from any thread to the one task that owns the daemon's state.
///
/// No state of the daemon is shared between threads, so it needs no lock.
struct EventStream: Sendable {
    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation

    init() {
        (events, continuation) = AsyncStream.makeStream()
    }

    func send(_ event: Event) {
        continuation.yield(event)
    }

    func note(_ who: String, _ what: String) {
        send(.note(who: who, what: what))
    }

    /// Sends ticks until the task is cancelled.
    func tick(every interval: Duration) async {
        while (try? await Task.sleep(for: interval)) != nil { send(.tick) }
    }

    /// Ends the daemon after a time, unless the task is cancelled before.
    func stop(after time: Duration) async {
        guard (try? await Task.sleep(for: time)) != nil else { return }
        send(.stop(reason: "its time is over"))
    }
}
