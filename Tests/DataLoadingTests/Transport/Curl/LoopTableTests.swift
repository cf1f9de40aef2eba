// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import Testing

    @Suite struct LoopTableTests {
        @Test func `the first origin is on the first loop, where tasks run too`() throws {
            var table = LoopTable<Int>(count: 2)
            let first = try table.place(of: OriginSeatsTests.origin(0), now: 0) { 1 }
            let task = try table.place(of: nil, now: 0) { 2 }
            #expect(first.loop == 1 && task.loop == 1)
            #expect(try table.place(of: OriginSeatsTests.origin(1), now: 0) { 2 }.loop == 2)
            #expect(table.running == [1, 2])
        }

        @Test func `an origin whose loop cannot start moves to a running one and stays there`()
            throws
        {
            var table = LoopTable<Int>(count: 2)
            _ = try table.place(of: OriginSeatsTests.origin(0), now: 0) { 1 }
            let moved = try table.place(of: OriginSeatsTests.origin(1), now: 0) { nil }
            #expect(moved.loop == 1 && moved.seat?.loop == 0)
            let later = try table.place(of: OriginSeatsTests.origin(1), now: 1) { 2 }
            #expect(later.loop == 1 && later.seat === moved.seat)
        }

        @Test func `without any loop an attempt fails, and the next one starts it`() throws {
            var table = LoopTable<Int>(count: 1)
            #expect(throws: DataLoaderError.self) { try table.place(of: nil, now: 0) { nil } }
            #expect(try table.place(of: nil, now: 0) { 1 }.loop == 1)
        }

        @Test func `after a shut-down no loop is started`() throws {
            var table = LoopTable<Int>(count: 2)
            _ = try table.place(of: nil, now: 0) { 1 }
            #expect(table.shutDown() == [1])
            #expect(table.running.isEmpty)
            #expect(throws: DataLoaderError.serviceInvalidated) {
                try table.place(of: OriginSeatsTests.origin(0), now: 0) { 2 }
            }
        }
    }
#endif
