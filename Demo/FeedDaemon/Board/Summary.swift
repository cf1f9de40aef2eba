// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a run came to, for somebody who reads nothing else of its output.
struct Summary {
    let board: Board
    let elapsed: Duration
    /// The requests per second that each feature may send, where there is a limit.
    let limits: [String: Double]
    /// Whether the run was to show everything, so that what is missing is worth saying.
    let expectsAll: Bool

    var lines: [String] {
        let title = "FeedDaemon ran for \(elapsed.text(decimals: 1))."
        let parts = [[title], costs.lines, waits.lines, findings]
        return [""] + parts.filter { !$0.isEmpty }.joined(separator: [""])
    }

    /// Each load once, by how it ended, and what all of them moved.
    private var costs: TextTable {
        table(
            titles: [
                "feature", "loads", "ok", "failed", "cancelled", "retries", "chunks", "down", "up",
            ]
        ) { tally in
            let counts = [
                tally.loads, tally.succeeded, tally.failed, tally.cancelled, tally.retries,
                tally.chunks,
            ]
            return counts.map(String.init) + [tally.bytesDown.bytes, tally.bytesUp.bytes]
        }
    }

    /// What held loads up before anything of them was sent.
    private var waits: TextTable {
        table(
            titles: [
                "mean wait of a load", "for its slot", "before a retry", "for a token", "together",
            ]
        ) { tally in
            let waits = [tally.slotTime, tally.pauseTime, tally.tokenTime].map(tally.mean)
            return (waits + [tally.meanWait]).map(\.milliseconds)
        }
    }

    private func table(titles: [String], _ cells: (Tally) -> [String]) -> TextTable {
        var table = TextTable(titles.map { ($0, $0 == titles.first ? .left : .right) })
        for name in board.names { table.add([name] + cells(board.tally(of: name))) }
        table.addRule()
        table.add(["all"] + cells(board.total))
        return table
    }

    private var findings: [String] {
        let found: [(what: String, evidence: String?)] = [
            ("rate kept", rate), ("gate held", gates), ("failover", failover),
            ("back again", homecoming), ("401 recovered", renewal), ("chunks", chunks),
            ("dropped", drop),
        ]
        let lines = found.compactMap { what, evidence -> String? in
            guard evidence != nil || expectsAll else { return nil }
            return Self.line(what, evidence ?? "not seen in this run")
        }
        return lines + (failures.map { [Self.line("failures", $0)] } ?? [])
    }

    private static func line(_ what: String, _ evidence: String) -> String {
        what.padded(to: 15, alignment: .left) + evidence
    }

    private var failures: String? {
        let failures = board.names.flatMap { name in
            board.tally(of: name).failures.sorted { $0.key < $1.key }.map {
                "\(name) \($0.key) (\($0.value))"
            }
        }
        return failures.isEmpty ? nil : failures.joined(separator: ", ")
    }

    private var rate: String? {
        let rates = board.names.compactMap { name in
            limits[name].map { limit in
                let rate = Double(board.tally(of: name).attempts) / max(elapsed.seconds, 0.001)
                return "\(name) \(rate.figure) of \(limit.figure)"
            }
        }
        return rates.isEmpty ? nil : rates.joined(separator: ", ") + " requests a second"
    }

    private var gates: String? {
        let gates = board.findings.gates.sorted { $0.key < $1.key }.map { name, gate in
            "\(name) for \(gate.length.text)"
                + (gate.times == 1 ? "" : " in all, \(gate.times) times")
        }
        return gates.isEmpty ? nil : gates.joined(separator: ", ") + ", as Retry-After asked"
    }

    private var failover: String? { board.findings.firstFailover.map(Self.text) }

    private var homecoming: String? { board.findings.firstReturn.map(Self.text) }

    private static func text(_ time: Duration, _ move: AddressWatch.Move) -> String {
        "\(move.host) from \(move.from) to \(move.to) at \(time.text(decimals: 1))"
    }

    private var renewal: String? {
        let renewed = board.findings.renewedTokens
        let resent = board.total.reauthorised
        guard renewed > 0, resent > 0 else { return nil }
        return "loads refused: \(resent), tokens fetched for them: \(renewed)"
    }

    private var chunks: String? {
        let total = board.total.chunks
        return total == 0 ? nil : "\(total) pieces were handed over as they came"
    }

    private var drop: String? {
        board.findings.closing.map {
            "\($0.feature), in mid-load; the server saw its socket close after \($0.after.text)"
        }
    }
}
