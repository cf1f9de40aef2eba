// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import Testing

@Suite struct LineRingTests {
    /// A line of a length, its line feed included.
    private static func line(_ length: Int, _ letter: UInt8) -> [UInt8] {
        [UInt8](repeating: letter, count: max(0, length - 1)) + [UInt8(ascii: "\n")]
    }

    @Test func `a ring of lines takes lines up to its capacity, to the byte`() {
        var ring = LineRing(capacity: 5_000)
        let line = Self.line(1_000, 65)
        let added = (0..<6).map { _ in ring.append(line) }
        #expect(added == [true, true, true, true, true, false])
        let first = ring.takeLines(atMost: 1_000)
        #expect(first == line)
        let (tooLong, fitting) = (
            ring.append(Self.line(1_001, 66)), ring.append(Self.line(1_000, 66))
        )
        #expect(!tooLong)
        #expect(fitting)
        let rest = ring.removeAll()
        #expect(rest == 5)
        #expect(ring.isEmpty)
    }

    @Test func `a ring has room for one line of the maximum length at least`() {
        var ring = LineRing(capacity: -1)
        let added = [Self.line(LogLine.maxLength, 65), Self.line(1, 65)].map { ring.append($0) }
        #expect(added == [true, false])
    }

    @Test func `a ring of lines agrees with an array of lines in random runs`() {
        property(cases: propertyCases / 10) { generator in
            let capacity = Int.random(in: 4_096...9_000, using: &generator)
            var ring = LineRing(capacity: capacity)
            var model: [[UInt8]] = []
            for _ in 0..<Int.random(in: 1...16, using: &generator) {
                if Bool.random(using: &generator) {
                    let length = Int.random(in: 1...LogLine.maxLength, using: &generator)
                    let line = Self.line(length, UInt8.random(in: 65...90, using: &generator))
                    let fits = model.reduce(0) { $0 + $1.count } + length <= capacity
                    if fits { model.append(line) }
                    guard ring.append(line) == fits else { return "room for \(length)" }
                } else {
                    let length = Int.random(in: 1...6_000, using: &generator)
                    var expected: [UInt8] = []
                    while let next = model.first,
                        expected.isEmpty || expected.count + next.count <= length
                    {
                        expected += model.removeFirst()
                    }
                    guard ring.takeLines(atMost: length) == expected else { return "other lines" }
                }
                guard ring.isEmpty == model.isEmpty else { return "emptiness" }
            }
            return ring.removeAll() == model.count ? nil : "the rest"
        }
    }
}
