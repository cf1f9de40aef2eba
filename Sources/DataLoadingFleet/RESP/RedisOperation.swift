// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a command does, for metrics: of the client's own words, never a key.
struct RedisOperation: Hashable, Sendable {
    /// The name of the command.
    let command: String
    /// The name of the script that it runs; nil for another command.
    let script: String?

    /// The operation of a command.
    init(_ command: RedisCommand) {
        self.command = command.words.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        script = nil
    }

    /// The operation that runs a script, by its name or by its text.
    init(_ script: RedisScript) {
        command = "EVALSHA"
        self.script = script.name
    }
}
