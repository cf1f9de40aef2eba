// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import Foundation

    /// What the process holds: I6 and I7, looked at when all cells of a fault are over.
    ///
    /// Cells run side by side, so that a leak or a peak is a fault's and not a cell's. The limit for
    /// memory holds for all of them together.
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

        /// What is left over of a fault's cells when it was looked at often enough.
        func violations(peak: Int) -> [FaultViolation] {
            var left = leftovers
            // Threads and sockets of what has ended may be on their way out; a look takes longer on a
            // busy machine.
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
