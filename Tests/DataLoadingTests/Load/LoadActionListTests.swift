// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import Testing

@Suite struct LoadActionListTests {
    private func numbers(_ list: LoadActionList) -> [Int] {
        var numbers: [Int] = []
        var list = list
        list.drain { if case .authorise(let epoch) = $0 { numbers.append(epoch) } }
        return numbers
    }

    @Test(arguments: 0..<5, 0..<5)
    func `a list of actions keeps their order, however it was made`(left: Int, right: Int) {
        var list = LoadActionList()
        for number in 0..<left { list.append(.authorise(epoch: number)) }
        var others = LoadActionList()
        for number in 0..<right { others.append(.authorise(epoch: left + number)) }
        #expect(numbers(list + others) == Array(0..<(left + right)))
        #expect(numbers(list) == Array(0..<left))
        list += others
        #expect(numbers(list) == Array(0..<(left + right)))
        #expect(numbers([.authorise(epoch: 0), .authorise(epoch: 1)]) == [0, 1])
    }
}
