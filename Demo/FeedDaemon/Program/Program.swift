// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs the daemon as the command line says.
@main enum Program {
    /// The exit status after an error in the arguments or the configuration.
    private static let mistake: Int32 = 2
    /// The longest run of the embedded origin without `--duration`.
    private static let longestScenario = Duration.seconds(300)

    static func main() async {
        exit(await run(Array(CommandLine.arguments.dropFirst())))
    }

    /// Returns the exit status.
    private static func run(_ words: [String]) async -> Int32 {
        do {
            switch try Arguments.parse(words) {
            case .help:
                Console.write(Usage.text)
            case .run(let options):
                try await run(options)
            case .origin(let duration):
                try await CountingOrigin.run(for: duration)
            }
            return 0
        } catch let error as Arguments.Mistake {
            Console.complain("\(error.message); see --help")
            return mistake
        } catch let error as ConfigurationError {
            Console.complain("\(error)")
            return mistake
        } catch {
            Console.complain("cannot start: \(error)")
            return 1
        }
    }

    private static func run(_ options: Arguments.Options) async throws {
        let stream = EventStream()
        if let file = options.file {
            let configuration = try ConfigurationFile.read(file)
            return try await run(configuration, options, stream, scenario: nil)
        }
        let origin = try EmbeddedOrigin(stream)
        defer { origin.stop() }
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "FeedDaemon-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        var limited = options
        if !options.isOperated { limited.duration = options.duration ?? longestScenario }
        try await run(
            origin.configuration(directory: directory), limited, stream,
            scenario: Scenario(origin: origin, stream: stream, endsDaemon: !options.isOperated))
    }

    private static func run(
        _ configuration: FeedConfiguration, _ options: Arguments.Options, _ stream: EventStream,
        scenario: Scenario?
    ) async throws {
        let daemon = try Daemon(configuration, options, stream: stream, scenario: scenario)
        let signals = SignalWatch(stream, reloadsOnHangup: options.isOperated)
        try await daemon.run(atMost: options.duration)
        withExtendedLifetime(signals) {}
    }
}
