// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// From the command line to the exit status.
enum Program {
    /// What a mistake in arguments or configuration ends the program with.
    static let mistake: Int32 = 2

    /// The scenario is over after this time, however long the daemon runs.
    private static let longestScenario = Duration.seconds(10)

    static func run(_ words: [String]) async -> Int32 {
        do {
            switch try Arguments.parse(words) {
            case .help: Console.write(Usage.text + "\n")
            case .run(let options): try await run(options)
            }
            return 0
        } catch let error as Arguments.Mistake {
            Console.complain("\(error.message); see --help")
            return mistake
        } catch let error as ConfigurationError {
            Console.complain("\(error)")
            return mistake
        } catch {
            Console.complain("cannot start its origin: \(error)")
            return 1
        }
    }

    private static func run(_ options: Arguments.Options) async throws {
        let wire = Wire()
        // A log on the same terminal would tear a status that is drawn in place.
        let draws = Console.outputIsTerminal && (options.log == nil || !Console.errorIsTerminal)
        let screen = Screen(isTerminal: draws)
        let signals = SignalWatch(wire: wire)
        defer { signals.end() }

        if let file = options.file {
            let configuration = try ConfigurationFile.read(file)
            let daemon = Daemon(configuration, wire: wire, screen: screen, log: options.log)
            await daemon.run(for: options.duration)
            return
        }
        let length = min(options.duration, longestScenario)
        let origin = try EmbeddedOrigin()
        defer { origin.stop() }
        let daemon = Daemon(
            origin.configuration(for: length), wire: wire, screen: screen, log: options.log)
        await daemon.run(
            for: options.duration,
            alongside: Scenario(origin: origin, length: length, wire: wire))
    }
}
