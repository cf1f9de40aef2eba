// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import FeedDaemon

@Suite struct ConsoleTests {
    @Test func `columns of a table are as wide as their widest cell`() {
        var table = TextTable(titles: ["name", "n", "x"])
        table.add(["a", "1000", ""])
        table.addRule()
        table.add(["longer", "7", "x"])
        #expect(
            table.lines == [
                "name       n  x", "a       1000   ", "------  ----  -", "longer     7  x",
            ])
    }

    @Test func `figures are short and have their unit`() {
        #expect(
            [0, 999, 1_000, 1_250_000, 5_000_000_000].map { Int64($0).bytes } == [
                "0 B", "999 B", "1.0 kB", "1.2 MB", "5000.0 MB",
            ])
        #expect(Duration.microseconds(1_500).text == "1.5 ms")
        #expect(Duration.milliseconds(1_234).text == "1.23 s")
        #expect(Duration.milliseconds(1_234).milliseconds == "1234 ms")
        #expect(6.0.figure == "6")
        #expect(5.26.figure == "5.3")
    }
}
