// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Why lines do not come to the file that a log's path names.
enum LogTrouble: Sendable {
    /// The last write has failed, and lines are dropped.
    case writing
    /// The file could not be opened again, and lines go to the one before.
    case reopening
}

/// What a log tells of itself.
struct LogState: Sendable {
    var dropped: Int64 = 0
    var trouble: LogTrouble?
}

/// What became of the lines of a log.
struct LogCounts: Hashable, Sendable {
    /// The lines of loads that were written.
    var written = 0
    /// The lines of loads that were dropped.
    var dropped = 0
    /// How often the file could not be opened again.
    var failedReopenings = 0
}
