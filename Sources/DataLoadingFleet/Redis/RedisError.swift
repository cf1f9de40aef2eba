// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Why a command has no result.
enum RedisError: Error, Hashable, Sendable {
    /// It was not sent within its patience; the payload says what became of the last connection.
    ///
    /// The server has not run it.
    case notSent(RedisFailure?)
    /// It was sent, and its answer did not come within its patience; the server may run it yet.
    case silent
    /// It was sent, and the connection ended before its answer; the server may have run it.
    case lost(RedisFailure)
    /// The server's error; it has not changed anything, unless a script failed on its way.
    case refused(RESPError)
    /// As many commands wait as may; it was not sent.
    case overloaded
    /// The command is larger than 64 KiB; it was not sent.
    case tooLarge
    /// The client was shut down; if the command was sent, the server may have run it.
    case shutDown
}

extension RedisError {
    /// The name of the case, for metrics.
    var name: String {
        switch self {
        case .notSent: "notSent"
        case .silent: "silent"
        case .lost: "lost"
        case .refused: "refused"
        case .overloaded: "overloaded"
        case .tooLarge: "tooLarge"
        case .shutDown: "shutDown"
        }
    }
}

extension RedisError: CustomStringConvertible {
    /// The reason, without the command.
    var description: String {
        switch self {
        case .notSent(let failure):
            "the command was not sent in time" + (failure.map { ": \($0)" } ?? "")
        case .silent: "the server did not answer in time"
        case .lost(let failure): "the connection ended: \(failure)"
        case .refused(let error): "the server refused the command: \(error)"
        case .overloaded: "too many commands wait"
        case .tooLarge: "the command is too large"
        case .shutDown: "the client was shut down"
        }
    }
}
