// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How long the operations of a store took that ended since its beginning; those that their tasks
/// cancelled are not among them.
package struct StoreOperations: Sendable {
    /// What the operations of a series have in common, each from a closed set.
    package struct Kind: Hashable, Sendable {
        /// The command, as "EVALSHA".
        package let command: String
        /// The script that it ran, as "lease"; nil for another command.
        package let script: String?
        /// The server that it was sent to; nil if it was sent to none, or in a series for more servers
        /// than are told apart.
        package var server: Server?
        /// The name of the error; nil for a success.
        package var error: String?

        package init(
            command: String, script: String?, server: Server? = nil, error: String? = nil
        ) {
            self.command = command
            self.script = script
            self.server = server
            self.error = error
        }
    }

    /// A server as the configuration names it.
    package struct Server: Hashable, Sendable {
        /// The host, or the path of a socket.
        package let address: String
        /// The port; nil for a socket.
        package let port: UInt16?

        package init(address: String, port: UInt16?) {
            self.address = address
            self.port = port
        }
    }

    /// The durations of a series.
    package struct Durations: Hashable, Sendable {
        /// The numbers of those up to each bound and above the one before; the last is above all.
        package private(set) var counts: [Int64]
        /// The sum in nanoseconds.
        package private(set) var sum: Int64 = 0

        fileprivate init(boundCount: Int) {
            counts = Array(repeating: 0, count: boundCount + 1)
        }

        fileprivate mutating func add(_ nanoseconds: Int64, bounds: [Int64]) {
            let bucket = bounds.firstIndex { nanoseconds <= $0 } ?? bounds.count
            counts[bucket].addSaturated(1)
            sum.addSaturated(nanoseconds)
        }
    }

    /// The upper bounds in nanoseconds, which OpenTelemetry advises for databases.
    package static let bounds: [Int64] = [1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000]
        .map { $0 * 1_000_000 }
    /// The number of series from which on a server is told no longer.
    package static let maxSeries = 200

    package private(set) var series: [Kind: Durations] = [:]

    package init() {}

    /// Notes an operation that ended; a duration below zero counts as zero.
    package mutating func note(_ kind: Kind, took duration: Duration) {
        var kind = kind
        if series.count >= Self.maxSeries, series[kind] == nil { kind.server = nil }
        series[kind, default: Durations(boundCount: Self.bounds.count)]
            .add(max(0, duration.wholeNanoseconds), bounds: Self.bounds)
    }
}
