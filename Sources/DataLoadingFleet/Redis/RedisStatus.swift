// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// What a client knows of its connection.
struct RedisStatus: Sendable {
    enum Connection: Sendable {
        /// No command needs one.
        case none
        /// It is being made, or will be after a pause.
        case connecting
        /// The master has answered.
        case ready
    }

    var connection: Connection
    /// The number of connections that were made.
    var connections: UInt64
    /// The endpoint that is used or is the next to be tried; nil when there is none.
    var endpoint: RedisEndpoint?
    /// Why the last connection ended; nil when none has.
    var lastFailure: RedisFailure?
    /// When the last reply came, on the machine's monotonic clock.
    var lastAnswer: Instant?
}
