// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A daemon that is ready to run, and what happens to its origin meanwhile.
struct Run {
    /// The scenario is over after this time, however long the daemon runs.
    private static let longestScenario = Duration.seconds(10)

    let daemon: Daemon
    let duration: Duration
    /// What happens to the embedded origin; nil where a file names others.
    let scenario: Scenario?

    init(_ options: Arguments.Options, _ wire: Wire) throws {
        duration = options.duration
        let configuration: FeedConfiguration
        if let file = options.file {
            configuration = try ConfigurationFile.read(file)
            scenario = nil
        } else {
            let length = min(duration, Self.longestScenario)
            let origin = try EmbeddedOrigin(for: length) { wire.note("origin", $0) }
            configuration = origin.configuration(for: length)
            scenario = Scenario(origin: origin, length: length, wire: wire)
        }
        // A log on the same terminal would tear a status that is drawn in place.
        let draws = Console.outputIsTerminal && (options.log == nil || !Console.errorIsTerminal)
        daemon = Daemon(
            configuration, wire: wire, screen: Screen(isTerminal: draws), log: options.log)
    }
}
