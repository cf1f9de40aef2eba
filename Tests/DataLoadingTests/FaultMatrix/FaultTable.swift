// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import Foundation

    /// All faults, which run one after another with the cells of each side by side.
    enum FaultTable {
        static let all =
            connectFaults + headFaults + bodyFaults + framingFaults + codingFaults + redirectFaults
            + retryAfterFaults + trustFaults + handshakeFaults + reuseFaults + http2Faults

        /// The faults of the row that the environment names, or all.
        static var chosen: [Fault] {
            let row = ProcessInfo.processInfo.environment["DATALOADING_FAULT"].flatMap { Int($0) }
            return row.map { row in all.filter { $0.number == row } } ?? all
        }

        /// The maximum of concurrent cells, so that this machine keeps the time limits.
        static let width = 16

        static func run(
            _ faults: [Fault], _ column: FaultColumn = .curl
        ) async -> FaultSummary {
            var summary = FaultSummary(title: column.title)
            summary.excluded = column.excluded(from: faults)
            let faults = faults.filter { !column.cells(of: $0).isEmpty }
            guard let first = faults.first else { return summary }
            // Runs twice, so that lazily created objects exist before the measurement.
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

        /// Runs a cell, and again with more time if only its time was wrong: a busy machine may be
        /// late once, but a library that is late is late again.
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
