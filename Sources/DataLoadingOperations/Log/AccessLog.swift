// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A log with one line for each load that ended, and if wanted for each attempt, for programs that read
/// it.
///
/// ```swift
/// var log = AccessLog(.json, to: .file("/var/log/feed/access.log"))
/// log.keepsOneIn = 100  // of the loads that succeeded quickly
/// ```
/// A line has the time, the source, the load's number, the method, the URL without its query, or the
/// pattern that a `URLTemplate` gives in its place, the status, the outcome, the counts, the bytes,
/// the waits, and where a response comes from that no server has just sent (`response.source`). With a
/// trace, the request's or one that the load has begun, it has the trace's number, and that of the
/// load's span if ``OperationsConfiguration/recordsLoadSpans`` is on. It never has a query, a header
/// value, a body or a token.
/// Control characters, and those that reverse the direction of text, are replaced by "?". A line has at
/// most 4,096 bytes, so that a pipe takes it whole (`PIPE_BUF`); too long a text ends in "…".
///
/// The log never delays a load: lines wait in a buffer, and one thread writes them five milliseconds
/// later, or when a quarter of the buffer is full. When a disk or the reader of a pipe is too slow, new
/// lines are dropped and counted, and a line `{"time":…,"dropped":3}` tells how many, before the next
/// one that is written.
public struct AccessLog: Sendable {
    /// The format of a line.
    public enum Format: Hashable, Sendable {
        /// One JSON object.
        case json
        /// Words of the form `key=value`; a value with spaces, quotes or "=" is in quotes.
        case logfmt
    }

    /// The place to which lines go.
    public enum Output: Hashable, Sendable {
        /// Standard error.
        case standardError
        /// The file at a path, which is made with mode 0640 and appended to.
        ///
        /// It may also be a named pipe that has a reader.
        case file(String)
    }

    /// The format of a line.
    public var format: Format
    /// The place to which lines go.
    public var output: Output
    /// Whether each attempt has a line too, when it ends; default false.
    ///
    /// Such a line has `kind` "attempt"; `resend`, the number of attempts before it, those at further
    /// addresses included; `cause`, why it was made (`retry`, `resumption`, `redirect`, `reauthorisation`,
    /// `next_address`, `replacement` or `whole_response`; none for the first); `seconds`, all of its time;
    /// and for what it had of them `connect` and `tls`, the times that they took, and `first.byte`, that
    /// until the first byte. Where a template takes the place of the URL, `server` is its origin.
    ///
    /// `load` is the number that the line of its load has. An attempt that several loads share has none,
    /// and where interceptors load more than once, each time begins with `resend` 0 and without a cause.
    public var includesAttempts = false
    /// The maximum number of bytes that wait to be written, at least 4,096; default 1 MiB.
    public var buffer = 1_048_576
    /// One load of so many has a line if nothing was remarkable about it; default 1, which is all.
    ///
    /// A hash of the load's number chooses. Loads that failed, that were cancelled after they had
    /// moved bytes, or that were slow always have a line. So do such attempts, with
    /// ``includesAttempts``; of the others those of chosen loads have one, and one in so many of those
    /// that loads share.
    public var keepsOneIn = 1
    /// The total time from which a load is slow; default 1 s.
    public var keepsSlowerThan: Duration = .seconds(1)

    /// Makes a log with a format and a place.
    public init(_ format: Format, to output: Output) {
        self.format = format
        self.output = output
    }
}
