// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

extension RedisMachine {
    /// The end of a command.
    struct Ending {
        let id: ID
        let result: Result<RESPValue, RedisError>
        /// The endpoint that it was sent to; nil if it was sent to none.
        var endpoint: Int?
    }

    /// What the thread has to do.
    enum Job: Equatable {
        /// There is nothing to do before the next command.
        case rest
        /// Connect to the endpoint at this index.
        case connect(Int)
        /// Send what is to be sent, and receive; until an instant, when the machine asks again.
        case serve(until: Instant?)
        /// Wait until this instant.
        case pause(until: Instant)
        /// End.
        case end
    }

    /// The connection.
    enum State: Equatable {
        /// There is none, and no command needs one.
        case idle
        /// The thread is to connect to an endpoint, or does so.
        case connecting
        /// The greeting was sent, and must be answered until this instant.
        case greeting(until: Instant)
        case ready
        /// Between connections.
        case pausing(until: Instant)
        case shutDown
    }

    /// A command that waits to be sent.
    struct Waiting {
        let id: ID
        let bytes: [UInt8]
        /// What is sent if the server does not know the script.
        let fallback: RedisCommand?
    }

    /// What a reply that is to come answers.
    enum Sent {
        case hello
        case role
        case command(SentCommand)
    }

    /// A command that was sent and is not answered.
    struct SentCommand {
        let id: ID
        /// What is sent if the server does not know the script.
        var fallback: RedisCommand?
        /// When it was sent.
        let time: Instant
        /// Whether no caller waits for the reply.
        var isAbandoned = false
        /// Whether its patience ended before that of its server.
        var isExpired = false
    }
}

extension RedisMachine.Sent {
    var command: RedisMachine.SentCommand? {
        if case .command(let command) = self { command } else { nil }
    }
}

extension RESPError {
    private static let codes: Set<String> = [
        "READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "MOVED",
    ]

    /// Whether another server is to be asked; the server has not run the command.
    ///
    /// Before version 7 the error of a script's command is in the text of the script's own.
    var isElsewhere: Bool {
        Self.codes.contains(code) || code == "ERR" && text.contains(" -READONLY ")
    }
}
