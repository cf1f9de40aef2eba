// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// From the command line to the exit status.
enum Program {
    /// What a mistake in arguments or configuration ends the program with.
    static let mistake: Int32 = 2

    static func run(_ words: [String]) async -> Int32 {
        let wire = Wire()
        switch prepare(words, wire) {
        case .nothing(let status):
            return status
        case .run(let run):
            let signals = SignalWatch(wire: wire)
            await run.daemon.run(for: run.duration, alongside: run.scenario)
            signals.end()
            run.scenario?.origin.stop()
            return 0
        }
    }

    /// What is to be done: all that can go wrong goes wrong before anything has started.
    private enum Work {
        case run(Run)
        /// Nothing but to exit with a status.
        case nothing(Int32)
    }

    private static func prepare(_ words: [String], _ wire: Wire) -> Work {
        do {
            switch try Arguments.parse(words) {
            case .help:
                Console.write(Usage.text + "\n")
                return .nothing(0)
            case .run(let options):
                return .run(try Run(options, wire))
            }
        } catch let error as Arguments.Mistake {
            Console.complain("\(error.message); see --help")
            return .nothing(mistake)
        } catch let error as ConfigurationError {
            Console.complain("\(error)")
            return .nothing(mistake)
        } catch {
            Console.complain("cannot start its origin: \(error)")
            return .nothing(1)
        }
    }
}
