// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// The names of what a fleet keeps in its server.
///
/// They begin with "dl:", so that an access list can name them. Texts of users are hashed: a name has
/// one length, and a brace in a path cannot move it to another server of a cluster.
struct FleetKeys: Sendable {
    /// How many names are kept; a daemon with more busy rates makes them again.
    private static let maxLines = 256
    /// When each daemon sent its last heartbeat.
    let members: String
    /// How many daemons have said goodbye.
    let departures: String
    /// Until when keys are closed.
    let gates: String
    private let namespace: String
    /// The lines that were named lately, because each lease of a line needs its name.
    private let lines = Locked<[QuotaKey: [String]]>([:])

    init(namespace: String) {
        self.namespace = namespace
        let tag = Self.tag([namespace])
        members = "dl:{\(tag)}:members"
        departures = "dl:{\(tag)}:departures"
        gates = "dl:{\(tag)}:gates"
    }

    /// The line of a key, and those who ask for its slots.
    func line(of key: QuotaKey) -> [String] {
        lines.withLock { lines in
            if let names = lines[key] { return names }
            if lines.count >= Self.maxLines { lines = [:] }
            let names = makeLine(of: key)
            lines[key] = names
            return names
        }
    }

    private func makeLine(of key: QuotaKey) -> [String] {
        let tag = Self.tag([namespace, GateName.text(of: key)])
        return ["dl:{\(tag)}:line", "dl:{\(tag)}:askers"]
    }

    /// The credentials of a name, their lock and the count of locks.
    func credentials(_ name: String) -> [String] {
        let tag = Self.tag([namespace, "credentials", name])
        return ["value", "lock", "count"].map { "dl:{\(tag)}:\($0)" }
    }

    /// The first 16 hexadecimal digits of a hash over texts, none of which can run into the next.
    private static func tag(_ texts: [String]) -> String {
        let bytes = texts.flatMap { Array("\($0.utf8.count):".utf8) + Array($0.utf8) }
        return SHA256.hex(SHA256.hash(bytes).prefix(8))
    }
}
