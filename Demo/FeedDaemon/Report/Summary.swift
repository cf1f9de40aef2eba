// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The report that the daemon prints when it ends.
struct Summary {
    let record: RunRecord
    let elapsed: Duration
    /// Whether every finding is expected, so that the missing ones are reported.
    let isShow: Bool

    var lines: [String] {
        let title = "FeedDaemon ran for \(elapsed.text(decimals: 1))."
        let parts = [[title], costs.lines, waits.lines, findings]
        return [""] + parts.filter { !$0.isEmpty }.joined(separator: [""])
    }

    /// Each load once, by how it ended, and the bytes of all loads.
    private var costs: TextTable {
        table("feature,loads,ok,failed,cancelled,retries,chunks,down,up") { counts in
            let numbers = [
                counts.loads, counts.succeeded, counts.failed, counts.cancelled, counts.retries,
                counts.chunks,
            ]
            return numbers.map(String.init) + [counts.bytesDown.bytes, counts.bytesUp.bytes]
        }
    }

    /// What loads waited for, on average.
    private var waits: TextTable {
        table("mean wait of a load,for its slot,before a retry,for a token,together") { counts in
            let waits = [counts.slotTime, counts.pauseTime, counts.tokenTime].map(counts.mean)
            return (waits + [counts.meanWait]).map(\.milliseconds)
        }
    }

    private func table(_ titles: String, _ cells: (LoadCounts) -> [String]) -> TextTable {
        var table = TextTable(titles: titles.split(separator: ",").map(String.init))
        for name in record.names { table.add([name] + cells(record.counts(of: name))) }
        table.addRule()
        table.add(["all"] + cells(record.all))
        return table
    }

    private var findings: [String] {
        let lines = Finding.allCases.compactMap { finding -> String? in
            let evidence = record.evidence(for: finding)
            guard evidence != nil || isShow else { return nil }
            return Self.line(finding.rawValue, evidence ?? "not seen in this run")
        }
        let sharing = record.sharing(until: elapsed).map { [Self.line("fleet", $0)] } ?? []
        return lines + sharing + (record.failures.map { [Self.line("failures", $0)] } ?? [])
    }

    private static func line(_ what: String, _ evidence: String) -> String {
        what.padded(to: 15) + evidence
    }
}
