// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The options of the command line.
struct Options: Sendable {
    /// The number of the measure; nil for all of them.
    var measure: Int? = 1
    var jsonFile: String?
    /// A file of an earlier run to draw instead of measuring; nil to measure.
    var figuresFile: String?
    /// The directory for plots; nil for none.
    var plots: String?
    var rounds = 5
    var contestants = Contestant.available
    var concurrencies = [1, 32, 256]
    /// The loads in a round; nil for the default of each client.
    var requests: Int?
    /// The work of a child process, with its description as JSON.
    var child: (work: any ChildWork.Type, job: String)?

    static let usage = """
        Benchmarks --measure N|all [--json FILE] [--plots DIRECTORY] [--figures FILE] \
        [--rounds N] [--contestants A,B] [--concurrency 1,32] [--requests N]
        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { throw Complaint("\(name) needs a value") }
            switch name {
            case "--measure": measure = value == "all" ? nil : try Self.number(value)
            case "--json": jsonFile = value
            case "--figures": figuresFile = value
            case "--plots": plots = value
            case "--rounds": rounds = try Self.number(value)
            case "--requests": requests = try Self.number(value)
            case "--contestants": contestants = try Self.list(value).map(Self.contestant)
            case "--concurrency": concurrencies = try Self.list(value).map(Self.number)
            default:
                guard let work = ChildWorks.all.first(where: { $0.option == name }) else {
                    throw Complaint("\(name) is unknown\n\(Self.usage)")
                }
                child = (work, value)
            }
        }
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map(String.init)
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number > 0 else { throw Complaint("\(text) is no number") }
        return number
    }

    private static func contestant(_ name: String) throws -> Contestant {
        guard let contestant = Contestant(rawValue: name), Contestant.available.contains(contestant)
        else {
            let names = Contestant.available.map(\.rawValue).joined(separator: ", ")
            throw Complaint("\(name) is none of \(names)")
        }
        return contestant
    }
}
