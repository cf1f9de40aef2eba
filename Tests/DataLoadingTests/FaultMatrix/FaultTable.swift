// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import Foundation

    /// All faults, and how they are run: one after another, the cells of each side by side.
    enum FaultTable {
        static let all =
            connectFaults + headFaults + bodyFaults + framingFaults + codingFaults + redirectFaults
            + retryAfterFaults + trustFaults + handshakeFaults + reuseFaults + http2Faults

        /// The faults of one row where the environment names one, else all.
        static var chosen: [Fault] {
            let row = ProcessInfo.processInfo.environment["DATALOADING_FAULT"].flatMap { Int($0) }
            return row.map { row in all.filter { $0.number == row } } ?? all
        }

        /// The most cells at a time: no more than this machine can keep in time.
        static let width = 16

        static func run(
            _ faults: [Fault], _ column: FaultColumn = .curl
        ) async -> FaultSummary {
            var summary = FaultSummary(title: column.title)
            summary.excluded = column.excluded(from: faults)
            let faults = faults.filter { !column.cells(of: $0).isEmpty }
            guard let first = faults.first else { return summary }
            // Twice, so that whatever is made once is there.
            for _ in 0..<2 { _ = await run(first, column, nil) }
            ProcessFigures.resetPeak()
            let baseline = FaultBaseline.now
            for fault in faults {
                let row = await run(fault, column, baseline)
                summary.rows.append(row)
                summary.skipped += column.cells(of: fault).count - row.cells
            }
            return summary
        }

        private static func run(
            _ fault: Fault, _ column: FaultColumn, _ baseline: FaultBaseline?
        ) async -> FaultSummary.Row {
            ProcessFigures.resetPeak()
            let begun = ContinuousClock.now
            let cells = column.cells(of: fault).filter { !$0.isSecure || TestIdentity.all != nil }
            var violations: [(String, FaultViolation)] = []
            await withTaskGroup(of: (FaultCell, [FaultViolation]).self) { group in
                for (index, cell) in cells.enumerated() {
                    if index >= width, let done = await group.next() {
                        violations += done.1.map { (done.0.description, $0) }
                    }
                    group.addTask {
                        var found: [FaultViolation] = []
                        for _ in 0..<fault.rounds where found.isEmpty {
                            found = await run(
                                FaultRunner(fault: fault, cell: cell, column: column))
                        }
                        return (cell, found)
                    }
                }
                for await (cell, found) in group {
                    violations += found.map { (cell.description, $0) }
                }
            }
            let peak = ProcessFigures.peakResidentBytes
            if let baseline {
                violations += baseline.violations(peak: peak).map { ("all cells", $0) }
            }
            let seconds = (ContinuousClock.now - begun) / .seconds(1)
            return FaultSummary.Row(
                fault: fault, cells: cells.count, seconds: seconds,
                megabytes: Double(peak - (baseline?.residentBytes ?? peak)) / 1_048_576,
                violations: violations)
        }

        /// Runs a cell, again and with more time if nothing but its time was wrong: a busy machine may
        /// be late, and a library that is late, or waits for what it should not, does so again.
        private static func run(_ runner: FaultRunner) async -> [FaultViolation] {
            var found: [FaultViolation] = []
            for pace in [1, 1, 1, 4, 8] {
                do {
                    let (violations, mayBeLate) = try await runner.run(pace: pace)
                    found = violations
                    guard !found.isEmpty, mayBeLate else { return found }
                } catch {
                    found = [FaultViolation(invariant: 1, expected: "a run", seen: "\(error)")]
                }
            }
            return found
        }
    }
#endif
