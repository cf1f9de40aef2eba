// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    import Foundation
    import Testing

    extension SocketTests {
        /// Real sockets under load and faults: 3 s, or five minutes with `DATALOADING_SOAK=1`.
        ///
        /// In a process of its own. The clock gives the seed, which is printed; `DATALOADING_SEED`
        /// sets it.
        @Suite struct SocketSoakTests {
            @Test(.timeLimit(.minutes(15)))
            func `loads with one fault in ten end once, as expected, and leave nothing behind`()
                async
            {
                let result = await #expect(
                    processExitsWith: .success, observing: [\.standardOutputContent]
                ) {
                    let seed =
                        ProcessInfo.processInfo.environment["DATALOADING_SEED"]
                        .flatMap { UInt64($0) } ?? UInt64(Date().timeIntervalSince1970)
                    // Runs once before, so that lazily created objects exist.
                    let earlier = try SocketSoak(seed: seed)
                    await earlier.run(for: .milliseconds(500))
                    await earlier.close()
                    let before = await SocketFootprint.measured()

                    let soak = try SocketSoak(seed: seed)
                    await soak.run(for: SocketSoak.isLong ? .seconds(30) : .seconds(1))
                    let warm = ProcessFigures.residentBytes
                    ProcessFigures.resetPeak()
                    await soak.run(for: SocketSoak.isLong ? .seconds(270) : .seconds(2))
                    let grown = ProcessFigures.residentBytes - warm
                    let peak = ProcessFigures.peakResidentBytes - warm
                    await soak.close()
                    let after = await SocketFootprint.settled(within: before, moreThreads: 0)
                    let tally = soak.tally
                    ChildReport.tell(
                        "soak: seed \(seed), \(tally.performed) loads, \(tally.faults) with one of",
                        "\(soak.faultCount) faults, \(tally.performed - tally.ended) lost,",
                        "\(tally.doubles) doubled, \(tally.late) late, \(tally.wrong.count) wrong;",
                        "\(warm >> 10) KiB warm, \(grown >> 10) KiB more at the end, \(peak >> 10)",
                        "KiB more at most\nbefore: \(before)\nafter: \(after)")
                    for (what, count) in tally.wrong {
                        ChildReport.tell("wrong: \(count) × \(what)")
                    }
                    ChildReport.require(
                        tally.performed == tally.ended && tally.doubles == 0, "lost or doubled")
                    ChildReport.require(tally.wrong.isEmpty, "wrong")
                    // A busy machine may be late now and then.
                    ChildReport.require(tally.late * 1_000 <= tally.performed, "late")
                    ChildReport.require(
                        tally.faults > 0 && tally.performed > tally.faults * 5, "too few loads")
                    ChildReport.require(after.isWithin(before, moreThreads: 0), "left: \(after)")
                    ChildReport.require(
                        ProcessFigures.isSanitized || grown <= 8 << 20, "more than 8 MiB")
                }
                ChildReport.check(result, begins: "soak:")
            }
        }
    }
#endif
