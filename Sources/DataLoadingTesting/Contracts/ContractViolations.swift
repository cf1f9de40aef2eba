// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

/// The rules of a protocol that a conforming type breaks, in plain words.
///
/// `checkAuthoriser`, `checkObserver` and `checkTransport` throw it.
public struct ContractViolations: Error, Sendable, CustomStringConvertible {
    /// One sentence for each rule that is broken.
    public let violations: [String]

    /// The sentences, each on a line.
    public var description: String { violations.joined(separator: "\n") }
}

/// Collects the violations that one check finds, each once.
final class ContractReport: Sendable {
    private let violations = Locked<[String]>([])

    var isClean: Bool { violations.withLock { $0.isEmpty } }

    func contains(_ violation: String) -> Bool {
        violations.withLock { $0.contains(violation) }
    }

    func note(_ violation: String) {
        violations.withLock { if !$0.contains(violation) { $0.append(violation) } }
    }

    /// Notes a violation unless the condition holds.
    func expect(_ condition: Bool, _ violation: String) {
        if !condition { note(violation) }
    }

    func end() throws {
        let violations = violations.withLock { $0 }
        if !violations.isEmpty { throw ContractViolations(violations: violations) }
    }
}
