// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Keys in the order of their last use, each step in constant time.
struct RecencyList<Key: Hashable> {
    private struct Node {
        var key: Key?
        var older: Int
        var newer: Int
    }

    /// The first node is at both ends of the list; its key is nil.
    private var nodes = [Node(key: nil, older: 0, newer: 0)]
    private var places: [Key: Int] = [:]
    private var free: [Int] = []

    var count: Int { places.count }

    /// The key that was not used for longest.
    var oldest: Key? { nodes[nodes[0].newer].key }

    /// Makes a key the one that was used last; adds it if it is not there.
    mutating func use(_ key: Key) {
        if let place = places[key] {
            unlink(place)
            link(place)
            return
        }
        let node = Node(key: key, older: 0, newer: 0)
        let place: Int
        if let reused = free.popLast() {
            nodes[reused] = node
            place = reused
        } else {
            nodes.append(node)
            place = nodes.count - 1
        }
        places[key] = place
        link(place)
    }

    mutating func remove(_ key: Key) {
        guard let place = places.removeValue(forKey: key) else { return }
        unlink(place)
        nodes[place].key = nil
        free.append(place)
    }

    mutating func removeAll() {
        self = RecencyList()
    }

    private mutating func unlink(_ place: Int) {
        let node = nodes[place]
        nodes[node.older].newer = node.newer
        nodes[node.newer].older = node.older
    }

    /// Links a node at the newer end.
    private mutating func link(_ place: Int) {
        let last = nodes[0].older
        nodes[place].older = last
        nodes[place].newer = 0
        nodes[last].newer = place
        nodes[0].older = place
    }
}
