// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Testing

    @Suite struct BodyReadersTests {
        @Test func `while all readers block, a started body waits and no other body starts`()
            async
        {
            let readers = BodyReaders()
            let blocked = EventRecorder<@Sendable () -> Void>()
            for _ in 0..<BodyReaders.limit {
                #expect(readers.start { blocked.record($0) })
            }
            let begun = LoopClock.now
            // After this time they count as blocked.
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
