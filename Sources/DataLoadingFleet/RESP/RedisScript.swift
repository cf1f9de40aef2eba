// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// A script that runs in the server, with the name by which the server remembers it.
struct RedisScript: Hashable, Sendable {
    /// What metrics call it.
    let name: String
    /// The text in Lua.
    let source: String
    /// The SHA-1 of the text in hexadecimal digits, by which the server remembers it.
    ///
    /// It is written beside the script, and a test asks the server for it. With a wrong one the text is
    /// sent each time.
    let digest: String

    /// Makes a script.
    init(_ name: String, _ source: String, digest: String) {
        self.name = name
        self.source = source
        self.digest = digest
    }

    /// What metrics say that it does, whether it is sent by its digest or by its text.
    var kind: StoreOperations.Kind { StoreOperations.Kind(command: "EVALSHA", script: name) }

    /// Runs it where the server knows it.
    func remembered(keys: [String], arguments: [String]) -> RedisCommand {
        command("EVALSHA", digest, keys, arguments)
    }

    /// Sends its text and runs it; the server then knows it until it forgets all scripts.
    func whole(keys: [String], arguments: [String]) -> RedisCommand {
        command("EVAL", source, keys, arguments)
    }

    private func command(
        _ name: String, _ script: String, _ keys: [String], _ arguments: [String]
    ) -> RedisCommand {
        RedisCommand(words: [name, script, "\(keys.count)"] + keys + arguments)
    }
}
