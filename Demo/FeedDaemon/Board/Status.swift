// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Where a run stands at one moment.
struct Status {
    struct Row {
        let name: String
        let tally: Tally
        let inFlight: Int
        /// How long the next load would wait, when a gate holds the feature.
        let held: Duration?
    }

    let elapsed: Duration
    let duration: Duration
    let rows: [Row]
    /// Where each host with addresses is reached now.
    let peers: [(host: String, address: String)]

    /// For a terminal.
    var lines: [String] {
        var table = TextTable([
            ("feature", .left), ("loads", .right), ("ok", .right), ("failed", .right),
            ("retries", .right), ("down", .right), ("mean wait", .right), ("now", .left),
        ])
        for row in rows {
            let tally = row.tally
            table.add([
                row.name, "\(tally.loads)", "\(tally.succeeded)", "\(tally.failed)",
                "\(tally.retries)", tally.bytesDown.bytes, tally.meanWait.milliseconds,
                row.now,
            ])
        }
        let progress = "\(elapsed.text(decimals: 1)) of \(duration.text(decimals: 0))"
        let title = (["FeedDaemon", progress] + peers.map { "\($0.host) at \($0.address)" })
        return ["", title.joined(separator: "   ")] + table.lines
    }

    /// For a log.
    var line: String {
        let total = rows.map(\.tally).reduce(Tally(), +)
        let held = rows.filter { $0.held != nil }.map(\.name)
        let words = [
            "\(total.loads) loads", "\(total.succeeded) ok", "\(total.failed) failed",
            "\(rows.map(\.inFlight).reduce(0, +)) running", total.bytesDown.bytes,
            held.isEmpty ? nil : "held: " + held.joined(separator: " "),
        ]
        return Note(
            time: elapsed, who: "status", what: words.compactMap { $0 }.joined(separator: ", ")
        ).text
    }
}

extension Status.Row {
    fileprivate var now: String {
        if let held { return "held for \(held.text(decimals: 1))" }
        return inFlight == 0 ? "" : "\(inFlight) running"
    }
}
