// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTesting

/// An origin for several daemons, which answers every request and counts what arrives.
enum CountingOrigin {
    /// Serves until a signal, or for a time; prints its address at once and the counts at the end.
    static func run(for duration: Duration?) async throws {
        let stream = EventStream()
        let signals = SignalWatch(stream, reloadsOnHangup: false)
        var configuration = LoopbackServer.Configuration()
        configuration.recordLimit = 1
        let server = try LoopbackServer(configuration) { _ in
            stream.send(.arrived(at: .now))
            return .ok(.text("news"))
        }
        defer { server.stop() }
        Console.write("origin \(server.url())")
        var arrivals = Arrivals()
        await withDiscardingTaskGroup { group in
            if let duration { group.addTask { await stream.stop(after: duration) } }
            for await event in stream.events {
                if case .arrived(let instant) = event { arrivals.add(instant) }
                if case .stop = event { break }
            }
            group.cancelAll()
        }
        Console.write(arrivals.text)
        withExtendedLifetime(signals) {}
    }
}
