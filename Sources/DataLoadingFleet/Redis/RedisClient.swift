// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// A client of one Redis or Valkey server at a time: the first of a list that is the master.
///
/// It has one connection and one thread, which begins with the first command and sleeps while there
/// is nothing to do. Commands are sent as they come, up to 16 before the first answer; more wait in
/// order. Each ends exactly once: by the server's answer, by an error, or by the cancellation of its
/// task. No command is sent twice, except a script that the server did not know.
///
/// A command has its patience for the whole way. A server that has taken a command and says nothing
/// counts as gone, although it accepts connections.
final class RedisClient: Sendable {
    private let core: RedisCore

    /// Makes a client; it connects with its first command.
    convenience init(_ configuration: RedisConfiguration) {
        self.init(configuration, randomness: .system)
    }

    init(
        _ configuration: RedisConfiguration, randomness: RandomSource,
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        core = RedisCore(configuration, randomness: randomness, timekeeper: timekeeper)
    }

    deinit {
        core.stop()
    }

    /// Runs a command; throws a `RedisError`, or a `CancellationError` when the task is cancelled.
    func run(_ command: RedisCommand) async throws -> RESPValue {
        try await core.run(command.kind, command.encoded, fallback: nil)
    }

    /// Runs a script, and calls `answer` exactly once, on the client's thread while that has a
    /// connection and never within the call.
    ///
    /// Without TLS it is sent on the calling thread, which is not blocked.
    func run(
        _ script: RedisScript, keys: [String], arguments: [String],
        answer: @escaping RedisCore.Answer
    ) {
        let whole = script.whole(keys: keys, arguments: arguments)
        let remembered = script.remembered(keys: keys, arguments: arguments)
        core.run(script.kind, remembered.encoded, fallback: whole, answer: answer)
    }

    /// Runs a script by its name, and by its text if the server does not know it.
    func run(
        _ script: RedisScript, keys: [String], arguments: [String]
    ) async throws -> RESPValue {
        let whole = script.whole(keys: keys, arguments: arguments)
        let remembered = script.remembered(keys: keys, arguments: arguments)
        return try await core.run(script.kind, remembered.encoded, fallback: whole)
    }

    /// Runs the jobs of tasks on the client's thread.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    var taskExecutor: any TaskExecutor { RedisExecutor(core) }

    /// What is known of the connection.
    var status: RedisStatus { core.status }

    /// How long the commands took that have ended.
    var operations: StoreOperations { core.operations }

    /// Ends every command with `.shutDown`, and returns when the thread has ended.
    func shutDown() async {
        core.stop()
        await core.waitUntilOver()
    }
}
