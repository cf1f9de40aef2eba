// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What the command line asks for.
enum Arguments: Equatable {
    case help
    case run(Options)

    /// How the daemon runs.
    struct Options: Equatable, Sendable {
        var duration = Duration.seconds(10)
        /// The configuration to load by; nil for the embedded origin.
        var file: String?
        var log: Log?
    }

    /// How each load is logged on standard error.
    enum Log: Equatable, Sendable {
        case text
        case json
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
        while let word = rest.popFirst() {
            let (name, attached) = split(word)
            guard seen.insert(name).inserted else {
                throw Mistake(message: "\(name) is given twice")
            }
            switch (name, attached) {
            case ("--help", nil), ("-h", nil):
                return .help
            case ("--log", nil), ("--log-json", nil):
                guard options.log == nil else {
                    throw Mistake(message: "--log and --log-json exclude each other")
                }
                options.log = name == "--log" ? .text : .json
            case ("--duration", let value):
                options.duration = try duration(value ?? rest.popFirst())
            case ("--config", let value):
                guard let file = value ?? rest.popFirst(), !file.isEmpty else {
                    throw Mistake(message: "--config needs the name of a file")
                }
                options.file = file
            default:
                throw Mistake(message: "there is no \(word)")
            }
        }
        return .run(options)
    }

    /// Takes `--name=value` apart.
    private static func split(_ word: String) -> (name: String, value: String?) {
        guard word.hasPrefix("--"), let equals = word.firstIndex(of: "=") else {
            return (word, nil)
        }
        return (String(word[..<equals]), String(word[word.index(after: equals)...]))
    }

    private static func duration(_ text: String?) throws(Mistake) -> Duration {
        // Nothing but digits and a point: Swift would read "inf", "0x1p4" and "1e3" too.
        guard let text, text.allSatisfy({ $0 == "." || ("0"..."9").contains($0) }),
            let seconds = Double(text), (0.01...31_536_000).contains(seconds)
        else { throw Mistake(message: "--duration needs seconds, from 0.01 to a year") }
        return .seconds(seconds)
    }
}
