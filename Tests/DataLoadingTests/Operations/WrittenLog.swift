// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The lines of a log in JSON that a test reads back: the numbers of loads, and what was dropped.
struct WrittenLog {
    /// The numbers of the loads, in the order of their lines.
    private(set) var loads: [Int] = []
    /// The numbers of dropped lines, one for each line that tells one.
    private(set) var dropped: [Int] = []

    /// Reads lines, each of which must be a whole object of one of the two kinds.
    init(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(text.isEmpty || text.hasSuffix("\n"), sourceLocation: sourceLocation)
        for line in text.split(separator: "\n") {
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            if let load = object?["load"] as? Int, object?["reused"] != nil {
                loads.append(load)
            } else if let count = object?["dropped"] as? Int {
                dropped.append(count)
            } else {
                Issue.record("torn: \(line)", sourceLocation: sourceLocation)
            }
        }
    }

    /// The sum of the dropped lines.
    var allDropped: Int { dropped.reduce(0, +) }
}
