// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import Testing

@Suite struct ProcessUsageTests {
    private static func files(
        process: String =
            "7 (a ) b(c) S 1 7 7 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 9 0 4000 99 25 5",
        system: String = "cpu  1 2 3\nbtime 1700000000\nprocesses 9\n"
    ) -> ProcessFiles {
        ProcessFiles(
            process: process, system: system, descriptors: 12, maxDescriptors: nil,
            ticksPerSecond: 100, pageSize: 4_096)
    }

    @Test func `the figures are read from the kernel's files, whatever the program's name`() {
        #expect(
            Self.files().usage
                == ProcessUsage(
                    processorTime: 2, residentMemory: 102_400, startTime: 1_700_000_040,
                    openDescriptors: 12, maxDescriptors: nil))
    }

    @Test(arguments: ["", "7 (a", "7 (a) S 1 2 3", "7 (a) S 1 1 1 1 1 1 1 1 1 1 x x"])
    func `a file of another form has no figures`(_ process: String) {
        #expect(Self.files(process: process).usage == nil)
        #expect(Self.files(system: process).usage == nil)
    }

    @Test func `huge figures saturate`() {
        let pages = "7 (a) S 1 7 7 0 -1 4194560 1 2 3 4 1 5 0 0 20 0 9 0 40 99 \(Int64.max)"
        #expect(Self.files(process: pages).usage?.residentMemory == .max)
    }

    @Test func `a missing limit has no sample`() throws {
        let visitor = ListingVisitor()
        try #require(Self.files().usage).visit(visitor)
        #expect(!visitor.families.contains { $0.name == "process.max.fds" })
        #expect(visitor.families.count == 4)
    }

    #if os(Linux)
        @Test func `the process has memory, descriptors, a limit and a start in the past`() throws {
            let usage = try #require(ProcessUsage.now)
            #expect(usage.residentMemory > 1_048_576)
            #expect(usage.openDescriptors >= 3)
            #expect(usage.maxDescriptors.map { $0 >= usage.openDescriptors } ?? true)
            #expect(usage.startTime > 1_500_000_000)
            #expect(usage.processorTime > 0)
        }
    #endif
}
