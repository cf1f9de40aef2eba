// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading

    /// A transport that the matrix is run with, and the cells that it cannot meet.
    struct FaultColumn: Sendable {
        /// Stands in the line with the totals; nil for the transport that the table is written for.
        var title: String?
        /// The host of all loads.
        var host = FaultScene.host
        /// Whether the authority of the servers, and pins, can be given to it.
        var takesTrust = true
        /// Changes what a scene asks for and the transport cannot be told.
        var adapt: @Sendable (FaultScene) -> FaultScene = { $0 }
        /// The first that applies to a cell keeps it out.
        var exclusions: [FaultExclusion] = []
        let transport: @Sendable (FaultScene) -> any Transport

        static let curl = FaultColumn { CurlTransport(lookup: $0.lookup) }

        /// Why a cell is left out; nil where it is run.
        func exclusion(of cell: FaultCell, _ fault: Fault) -> String? {
            exclusions.first { $0.applies(fault, cell) }?.reason
        }

        /// The cells of a fault that are run.
        func cells(of fault: Fault) -> [FaultCell] {
            fault.axes.cells.filter { exclusion(of: $0, fault) == nil }
        }

        /// How many cells of these faults each reason keeps out, in the order of the list.
        func excluded(from faults: [Fault]) -> [(reason: String, cells: Int)] {
            let reasons = faults.flatMap { fault in
                fault.axes.cells.compactMap { exclusion(of: $0, fault) }
            }
            return exclusions.map { exclusion in
                (exclusion.reason, reasons.count { $0 == exclusion.reason })
            }
        }
    }

    /// Cells that a transport cannot meet, for one reason.
    struct FaultExclusion: Sendable {
        let reason: String
        let applies: @Sendable (Fault, FaultCell) -> Bool

        init(
            _ reason: String, applies: @escaping @Sendable (Fault, FaultCell) -> Bool
        ) {
            self.reason = reason
            self.applies = applies
        }
    }
#endif
