// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingAuth
    @testable import DataLoading
    @testable import DataLoadingCurl

    /// A transport under test, and the cells that do not apply to it.
    struct FaultColumn: Sendable {
        /// Part of the line with the totals; nil for the transport that the table is written for.
        var title: String?
        /// The host of all loads.
        var host = FaultScene.host
        /// Whether the transport supports private authorities and pins.
        var takesTrust = true
        /// Adapts a scene to what the transport supports.
        var adapt: @Sendable (FaultScene) -> FaultScene = { $0 }
        /// The first exclusion that applies to a cell excludes it.
        var exclusions: [FaultExclusion] = []
        let transport: @Sendable (FaultScene) -> any Transport

        static let curl = FaultColumn { CurlTransport(loops: .ofTests, lookup: $0.lookup) }

        /// Why a cell is excluded; nil if it runs.
        func exclusion(of cell: FaultCell, _ fault: Fault) -> String? {
            exclusions.first { $0.applies(fault, cell) }?.reason
        }

        /// The cells of a fault that run.
        func cells(of fault: Fault) -> [FaultCell] {
            fault.axes.cells.filter { exclusion(of: $0, fault) == nil }
        }

        /// The number of cells that each reason excludes, in the order of the list.
        func excluded(from faults: [Fault]) -> [(reason: String, cells: Int)] {
            let reasons = faults.flatMap { fault in
                fault.axes.cells.compactMap { exclusion(of: $0, fault) }
            }
            return exclusions.map { exclusion in
                (exclusion.reason, reasons.count { $0 == exclusion.reason })
            }
        }
    }

    /// The cells that do not apply to a transport, for one reason.
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
