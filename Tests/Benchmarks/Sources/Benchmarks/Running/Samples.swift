// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The samples of a measure, which become a figure for each contestant, variant and unit.
struct Samples {
    private struct Group: Hashable {
        let scene: String?
        let c: Int
        let unit: String
    }

    private var groups: [Group] = []
    private var contestants: [String] = []
    private var values: [Group: [String: [Double]]] = [:]

    mutating func add(
        _ value: Double, _ unit: String, of contestant: String, scene: String? = nil, c: Int
    ) {
        let group = Group(scene: scene, c: c, unit: unit)
        if values[group] == nil { groups.append(group) }
        if !contestants.contains(contestant) { contestants.append(contestant) }
        values[group, default: [:]][contestant, default: []].append(value)
    }

    /// The figures, those that are compared with each other side by side.
    func figures(of measure: Int) -> [Figure] {
        groups.flatMap { group in
            contestants.compactMap { contestant in
                values[group]?[contestant].map { samples in
                    Figure(
                        measure: measure, contestant: contestant, scene: group.scene, c: group.c,
                        samples: samples, unit: group.unit)
                }
            }
        }
    }
}
