// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The source identifiers that have a label of their own: the first 32 that loads bring.
struct SourceTable: Sendable {
    private struct State: Sendable {
        var indices: [String: UInt8] = [:]
        var names: [String] = []

        /// The index of a name; nil for one that has none.
        func index(of name: String) -> UInt8? {
            for index in 0..<min(names.count, SourceTable.compared) where names[index] == name {
                return UInt8(index)
            }
            return indices[name]
        }
    }

    static let maxSources = 32
    /// Comparing so many names takes less time than the hash of one.
    private static let compared = 8
    private let state = Locked(State())

    /// The identifier that a label represents.
    func name(at index: UInt8) -> String {
        state.withLock { state in
            state.names.indices.contains(Int(index)) ? state.names[Int(index)] : LabelNames.other
        }
    }

    /// The label of a request's identifier; none for an empty one, because Prometheus takes a label
    /// without a value for no label, and so would have the same series twice.
    func label(_ identifier: String?) -> SourceLabel {
        guard let identifier, !identifier.isEmpty else { return .none }
        // What is cut on its way out is not kept whole.
        let name = identifier.cutForLabel
        // Two series of one name are no exposition.
        guard name != LabelNames.other else { return .other }
        return state.withLock { state in
            if let index = state.index(of: name) { return .known(index) }
            guard state.names.count < Self.maxSources else { return .other }
            let index = UInt8(state.names.count)
            state.names.append(name)
            state.indices[name] = index
            return .known(index)
        }
    }
}

extension String {
    /// The text with at most 256 characters, as Unicode counts them: a letter with all its marks may
    /// have thousands.
    var cutForLabel: String {
        utf8.count <= 256 ? self : String(unicodeScalars.prefix(256))
    }
}
