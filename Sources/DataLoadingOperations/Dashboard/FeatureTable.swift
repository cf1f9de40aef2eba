// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The figures of the features: the first 32 that loads bring, and one more for all others.
struct FeatureTable: Sendable {
    static let maxFeatures = 32
    static let maxNameBytes = 96

    /// By name; nil for loads that name none.
    private(set) var features: [String?: FeatureFigures] = [:]

    mutating func add(_ load: EndedLoad, bytes: Int64, in second: Int64) {
        let isKnown = features[load.feature] != nil || features.count < Self.maxFeatures
        let name = isKnown ? load.feature : LabelNames.other
        features[name, default: FeatureFigures()].add(load, bytes: bytes, in: second)
    }
}
