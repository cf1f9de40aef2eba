// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Testing

@Suite struct LinkedPoolTests {
    @Test func `the linked pool agrees with arrays over ten thousand random steps`() {
        property(cases: 20) { generator in
            var pool = LinkedPool<Int>()
            var lists = [LinkedPool<Int>.List](repeating: .init(), count: 3)
            var model = [[(id: Int, index: Int, serial: UInt64)]](repeating: [], count: 3)
            for id in 0..<500 {
                let list = Int.random(in: 0..<3, using: &generator)
                switch Int.random(in: 0..<7, using: &generator) {
                case 0..<3:
                    let index = pool.append(id, to: &lists[list])
                    model[list].append((id, index, pool.serial(at: index)))
                case 3:
                    guard let place = model[list].indices.randomElement(using: &generator) else {
                        break
                    }
                    let (id, index, serial) = model[list].remove(at: place)
                    if pool.remove(index, from: &lists[list]) != id { return "removed another" }
                    if pool.remove(index, from: &lists[list]) != nil { return "removed twice" }
                    if pool.serial(at: index) == serial { return "the serial stayed" }
                case 4:
                    guard let place = model[list].indices.randomElement(using: &generator) else {
                        break
                    }
                    let moved = model[list].remove(at: place)
                    model[list].append(moved)
                    pool.moveToEnd(moved.index, of: &lists[list])
                case 5:
                    guard let place = model[list].indices.randomElement(using: &generator) else {
                        break
                    }
                    let moved = model[list].remove(at: place)
                    let other = (list + Int.random(in: 1..<3, using: &generator)) % 3
                    let last = model[other].lastIndex { $0.serial < moved.serial }
                    model[other].insert(moved, at: last.map { $0 + 1 } ?? 0)
                    var (old, new) = (lists[list], lists[other])
                    pool.move(moved.index, from: &old, to: &new)
                    (lists[list], lists[other]) = (old, new)
                    if pool.serial(at: moved.index) != moved.serial { return "another serial" }
                default:
                    guard let node = model[list].randomElement(using: &generator) else { break }
                    if pool[node.index] != node.id { return "another element" }
                }
                for (list, expected) in zip(lists, model) {
                    if elements(of: list, in: pool) != expected.map(\.id) { return "order" }
                    if list.count != expected.count { return "count" }
                }
            }
            return nil
        }
    }

    private func elements(of list: LinkedPool<Int>.List, in pool: LinkedPool<Int>) -> [Int] {
        var elements: [Int] = []
        var next = list.first
        while let index = next, elements.count <= list.count {
            if let element = pool[index] { elements.append(element) }
            next = pool.index(after: index)
        }
        return elements
    }
}
