// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// What happens in the daemon, told by whoever sees it.
enum Event: Sendable {
    /// A load ended; from the consumption observer.
    case ended(DataLoaderResponse, down: Int64, up: Int64)
    /// A feature was handed a piece of a body.
    case chunk(feature: String)
    /// Something worth a line.
    case note(who: String, what: String)
    /// A refused token was replaced.
    case tokenRenewed
    /// A feature was dropped in mid-load, and the server saw its socket close.
    case socketClosed(feature: String, after: Duration)
    /// A feature is to be dropped.
    case drop(feature: String)
    /// A feature that was dropped is to be made anew.
    case revive(feature: String)
    /// It is time to look and to draw.
    case tick
    /// The daemon is to end.
    case stop(reason: String)
    /// Nothing is left that could happen.
    case stopped
}

/// Carries events from any thread to the one task that owns the daemon's state.
///
/// Nothing in the daemon is shared and changed, so nothing needs a lock.
struct Wire: Sendable {
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
}
