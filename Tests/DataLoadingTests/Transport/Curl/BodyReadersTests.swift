// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    import DataLoadingTesting
    import Testing

    @Suite struct BodyReadersTests {
        @Test func `where all readers block, a body that has begun waits, and no other begins`()
            async
        {
            let readers = BodyReaders()
            let blocked = EventRecorder<@Sendable () -> Void>()
            for _ in 0..<BodyReaders.limit {
                #expect(readers.start { blocked.record($0) })
            }
            let begun = LoopClock.now
            // For so long that they are taken for blocked.
            await eventually { LoopClock.now - begun > 1_100_000_000 }
            #expect(!readers.start { _ in })
            let goesOn = EventRecorder<Void>()
            #expect(
                readers.start(isFirst: false) { done in
                    goesOn.record(())
                    done()
                })
            #expect(goesOn.elements.isEmpty)
            blocked.elements.first?()
            #expect(goesOn.elements.count == 1)
        }
    }
#endif
