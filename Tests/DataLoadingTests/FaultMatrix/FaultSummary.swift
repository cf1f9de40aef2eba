// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import Foundation

    /// The results of all faults as a table.
    struct FaultSummary: Sendable {
        struct Row: Sendable {
            let fault: Fault
            let cells: Int
            /// The outcomes that occurred.
            var outcomes: Set<String> = []
            let seconds: Double
            let megabytes: Double
            var violations: [(cell: String, violation: FaultViolation)]
        }

        /// The name of the transport; nil for the one that the table is written for.
        var title: String?
        var rows: [Row] = []
        /// Why cells were excluded, and how many.
        var excluded: [(reason: String, cells: Int)] = []
        /// The number of https cells excluded because OpenSSL is missing.
        var skipped = 0

        var cells: Int { rows.reduce(0) { $0 + $1.cells } }
        var violations: Int { rows.reduce(0) { $0 + $1.violations.count } }

        /// One line for each fault, one for each violation, and one with the totals.
        var text: String {
            var lines = ["  #  cells  viol.   time     peak  fault"]
            for row in rows {
                lines.append(
                    String(
                        format: "%3d  %5d  %5d  %4.2f s  %4.1f MB  ", row.fault.number, row.cells,
                        row.violations.count, row.seconds, row.megabytes) + row.fault.title)
                for (cell, violation) in row.violations {
                    lines.append(
                        "     violation of I\(violation.invariant) in [\(cell)]: expected "
                            + "\(violation.expected); seen \(violation.seen)")
                }
            }
            if skipped > 0 { lines.append("\(skipped) cells of https skipped: no libssl") }
            lines += excluded.filter { $0.cells > 0 }.map { "\($0.cells) cells out: \($0.reason)" }
            lines.append(totals)
            return lines.joined(separator: "\n")
        }

        private var totals: String {
            let counts = "\(cells) cells, \(violations) violations"
            guard let title else { return "fault matrix: " + counts }
            return "fault matrix (\(title)): \(counts), "
                + "\(excluded.reduce(0) { $0 + $1.cells }) excluded"
        }
    }
#endif
