// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// When the pages that are connected get the next snapshot: once a second, all at the same time.
struct LiveTicks {
    private static let interval = Duration.seconds(1)

    private var feed: (any LiveFeed)?
    private(set) var next = Instant.distantFuture

    /// Somebody has connected, and gets a snapshot at once.
    mutating func begin(_ feed: any LiveFeed, at now: Instant) {
        self.feed = feed
        next = now
    }

    /// The feed, when it is time; the next time is a second later.
    mutating func take(at now: Instant) -> (any LiveFeed)? {
        guard now >= next, let feed else { return nil }
        next = now + Self.interval
        return feed
    }
}

/// An event of an event stream, as the HTML standard writes it.
enum LiveEvent {
    /// After how many milliseconds a reader should connect again.
    static let retry = Array("retry: 2000\n\n".utf8)

    /// The event; `data` has no line feed.
    static func bytes(_ name: String, id: Int64?, _ data: [UInt8]) -> [UInt8] {
        let id = id.map { "id: \($0)\n" } ?? ""
        return Array("event: \(name)\n\(id)data: ".utf8) + data + Array("\n\n".utf8)
    }
}
