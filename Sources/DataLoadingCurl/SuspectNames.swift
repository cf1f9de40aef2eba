// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The names whose look-up may be slow: names that were slow or had no answer lately, and
/// further names of a zone with many look-ups.
struct SuspectNames: Sendable {
    /// The number of look-ups of one zone from which on its further names are suspect.
    ///
    /// Suspect names use half of a resolver's threads; beside those, a zone's other names leave
    /// a quarter.
    private static let zoneLimit = 16
    private static let limit = 4_096
    private var names: Set<String> = []
    private var older: Set<String> = []
    /// For each zone, the number of its pending names that are not suspect.
    private var zones: [String: Int] = [:]

    func contains(_ name: String) -> Bool {
        names.contains(name) || older.contains(name)
            || zones[Self.zone(of: name)] ?? 0 >= Self.zoneLimit
    }

    /// Notes that the look-up of a name that is not suspect is pending.
    mutating func begin(_ name: String) {
        zones[Self.zone(of: name), default: 0] += 1
    }

    /// Notes that it is not pending any more.
    mutating func end(_ name: String) {
        let zone = Self.zone(of: name)
        let rest = (zones[zone] ?? 0) - 1
        zones[zone] = rest > 0 ? rest : nil
    }

    /// Notes whether a look-up was slow or had no answer.
    mutating func note(_ name: String, _ isSuspect: Bool) {
        guard isSuspect else {
            names.remove(name)
            older.remove(name)
            return
        }
        names.insert(name)
        guard names.count >= Self.limit else { return }
        older = names
        names = []
    }

    /// The last two labels, which most likely have their own name servers.
    private static func zone(of name: String) -> String {
        name.split(separator: ".").suffix(2).joined(separator: ".")
    }
}
