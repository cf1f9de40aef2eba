// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// Names that may be slow to look up: the last that were slow or had no answer, and further ones of a
    /// zone that many are looked up of.
    struct SuspectNames: Sendable {
        /// How many names of one zone are looked up at once before further ones are suspects: beside half
        /// of a resolver's threads, which suspects have, these leave a quarter.
        private static let zoneLimit = 16
        private static let limit = 4_096
        private var names: Set<String> = []
        private var older: Set<String> = []
        /// How many names of each zone wait or are looked up that are no suspects.
        private var zones: [String: Int] = [:]

        func contains(_ name: String) -> Bool {
            names.contains(name) || older.contains(name)
                || zones[Self.zone(of: name)] ?? 0 >= Self.zoneLimit
        }

        /// Notes that a name is to be looked up that is no suspect.
        mutating func begin(_ name: String) {
            zones[Self.zone(of: name), default: 0] += 1
        }

        /// Notes that it is not any more.
        mutating func end(_ name: String) {
            let zone = Self.zone(of: name)
            let rest = (zones[zone] ?? 0) - 1
            zones[zone] = rest > 0 ? rest : nil
        }

        /// Notes how the look-up of a name went.
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

        /// What most likely has name servers of its own: the last two labels.
        private static func zone(of name: String) -> String {
            name.split(separator: ".").suffix(2).joined(separator: ".")
        }
    }
#endif
