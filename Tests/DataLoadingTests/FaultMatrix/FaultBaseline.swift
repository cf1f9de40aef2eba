// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import Foundation

    /// The resources of the process (I6 and I7), compared when all cells of a fault have ended.
    ///
    /// Cells run side by side, so a leak or a peak belongs to a fault and not to a cell. The memory
    /// limit applies to all of them together.
    struct FaultBaseline: Sendable {
        static let memoryLimit = 64 << 20

        let descriptors: Int
        let threads: Int
        let residentBytes: Int

        /// The present state of the process.
        static var now: FaultBaseline {
            FaultBaseline(
                descriptors: ProcessFigures.descriptors, threads: ProcessFigures.libraryThreads,
                residentBytes: ProcessFigures.residentBytes)
        }

        /// What the cells of a fault have left behind after several measurements.
        func violations(peak: Int) -> [FaultViolation] {
            var left = leftovers
            // Threads and sockets may still be closing, which takes longer on a busy machine.
            for _ in 0..<(1_500 * patience) where !left.isEmpty {
                usleep(2_000)
                left = leftovers
            }
            if peak > residentBytes + Self.memoryLimit, !ProcessFigures.isSanitized {
                left.append(
                    FaultViolation(
                        invariant: 7, expected: "less than 64 MiB more",
                        seen: "\((peak - residentBytes) >> 20) MiB"))
            }
            return left
        }

        private var leftovers: [FaultViolation] {
            let now = Self.now
            let figures = [
                ("descriptors", descriptors, now.descriptors), ("threads", threads, now.threads),
                ("objects", 0, FaultTracer.count),
            ]
            return figures.filter { $0.2 > $0.1 }.map { name, before, after in
                FaultViolation(
                    invariant: 6, expected: "\(before) \(name)", seen: "\(after) \(name)")
            }
        }
    }
#endif
