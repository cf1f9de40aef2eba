// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingFleet

/// What the command line says.
enum Arguments: Equatable {
    case help
    case run(Options)
    /// Be nothing but an origin that counts what arrives, for so long or until a signal.
    case origin(Duration?)

    /// How the daemon runs.
    struct Options: Equatable, Sendable {
        /// When to end; nil for the end of the scenario, or a signal.
        var duration: Duration?
        /// The file with the configuration; nil for the embedded origin.
        var file: String?
        /// How each load is logged on standard error; nil for not at all.
        var log: ConsumptionLogger.Format? = .text
        /// Whether it is operated: with metrics, systemd's messages, and a reload on SIGHUP.
        var isOperated = false
        /// The Redis through which several daemons share their rates; nil for rates of its own.
        var fleet: RedisEndpoint?
        /// The user of that Redis; nil for its default user.
        var fleetUser: String?
        /// The file with the password for that Redis; nil for none.
        var fleetPasswordFile: String?
        /// How many daemons are expected to share, until Redis tells.
        var members = 2
    }

    /// What is wrong with a command line.
    struct Mistake: Error, Equatable {
        let message: String
    }

    /// Reads the arguments that follow the program's name.
    static func parse(_ words: [String]) throws(Mistake) -> Arguments {
        var options = Options()
        var seen: Set<String> = []
        var rest = words[...]
        var isOrigin = false
        while let word = rest.popFirst() {
            guard seen.insert(word).inserted else {
                throw Mistake(message: "\(word) is given twice")
            }
            switch word {
            case "--help", "-h":
                return .help
            case "--json", "--quiet":
                guard options.log == .text else {
                    throw Mistake(message: "--json and --quiet exclude each other")
                }
                options.log = word == "--json" ? .json : nil
            case "--operations":
                options.isOperated = true
            case "--origin":
                isOrigin = true
            case "--fleet":
                options.fleet = try endpoint(rest.popFirst())
            case "--fleet-user":
                options.fleetUser = try text(rest.popFirst(), of: word, "a name")
            case "--fleet-password-file":
                options.fleetPasswordFile = try text(
                    rest.popFirst(), of: word, "the name of a file")
            case "--members":
                options.members = try members(rest.popFirst())
            case "--duration":
                options.duration = try duration(rest.popFirst())
            case "--config":
                options.file = try text(rest.popFirst(), of: word, "the name of a file")
            default:
                throw Mistake(message: "\(word) is not an option")
            }
        }
        for word in ["--members", "--fleet-user", "--fleet-password-file"] {
            guard !seen.contains(word) || options.fleet != nil else {
                throw Mistake(message: "\(word) needs --fleet")
            }
        }
        guard isOrigin else { return .run(options) }
        guard seen.isSubset(of: ["--origin", "--duration"]) else {
            throw Mistake(message: "--origin takes --duration only")
        }
        return .origin(options.duration)
    }

    private static func text(
        _ text: String?, of option: String, _ kind: String
    ) throws(Mistake) -> String {
        guard let text, !text.isEmpty else { throw Mistake(message: "\(option) needs \(kind)") }
        return text
    }

    private static func endpoint(_ text: String?) throws(Mistake) -> RedisEndpoint {
        guard let text else { throw Mistake(message: "--fleet needs the URL of a Redis") }
        do throws(RedisEndpointError) {
            return try RedisEndpoint(text)
        } catch {
            throw Mistake(message: "--fleet needs the URL of a Redis: \(error)")
        }
    }

    private static func members(_ text: String?) throws(Mistake) -> Int {
        guard let text, let number = Int(text), (1...10_000).contains(number) else {
            throw Mistake(message: "--members needs a number, from 1 to 10000")
        }
        return number
    }

    private static func duration(_ text: String?) throws(Mistake) -> Duration {
        // Only digits and a point: `Double` also accepts "inf", "0x1p4" and "1e3".
        guard let text, text.allSatisfy({ $0 == "." || ("0"..."9").contains($0) }),
            let seconds = Double(text), (0.01...31_536_000).contains(seconds)
        else { throw Mistake(message: "--duration needs seconds, from 0.01 to a year") }
        return .seconds(seconds)
    }
}
