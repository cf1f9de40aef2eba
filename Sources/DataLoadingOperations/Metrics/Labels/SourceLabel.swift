// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A source identifier of the `SourceTable`, none, or any other.
enum SourceLabel: Hashable, Sendable {
    case none
    case known(UInt8)
    case other

    /// The label; nil for a load without an identifier, or with an empty one.
    func label(_ names: LabelNames) -> Label? {
        switch self {
        case .none: nil
        case .known(let index): Label("dataloading.source", names.sources.name(at: index))
        case .other: Label("dataloading.source", LabelNames.other)
        }
    }
}
