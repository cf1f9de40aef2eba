// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// 64 streams that are read slowly.
        ///
        /// Each test runs in a process of its own.
        @Suite struct SlowReaderMatrix {
            /// The memory for 64 streams: a window each, and as much again for what libcurl and the
            /// server, which is in the same process, buffer.
            static let limit = SlowReaders.count * 2 * 262_144
            private static let rounds =
                ProcessInfo.processInfo.environment["DATALOADING_SOAK"] == "1" ? 4_000 : 400

            @Test(.timeLimit(.minutes(15)))
            func `64 slow readers hold no more than their windows and starve no other load`() async
            {
                let result = await #expect(
                    processExitsWith: .success, observing: [\.standardOutputContent]
                ) {
                    let streams = try SlowReaders()
                    for _ in 0..<20 { try await streams.loadSmall() }
                    let alone = streams.observation.usualSmall
                    streams.forgetSmalls()
                    let before = ProcessFigures.residentBytes
                    ProcessFigures.resetPeak()
                    try await streams.open()
                    let limit = ProcessFigures.isSanitized ? Int.max : Self.limit
                    var grown = 0
                    // Measured in between, so that the test stops if memory is not bounded.
                    for first in stride(from: 0, to: Self.rounds, by: 20) where grown < limit {
                        try await streams.read(rounds: first..<(first + 20))
                        grown = ProcessFigures.peakResidentBytes - before
                    }
                    let seen = streams.observation
                    await streams.close()
                    let least = seen.bytes.min() ?? 0
                    ChildReport.tell(
                        "slow readers: \(seen.bytes.reduce(0, +) >> 20) MiB read,",
                        "\(least >> 10) KiB by the slowest, \(grown >> 10) KiB more memory,",
                        "longest wait \(seen.longestWait), \(seen.smalls.count) small loads,",
                        "usually in \(seen.usualSmall), \(seen.smalls.max() ?? .zero) at most,",
                        "\(alone) alone")
                    ChildReport.require(grown < limit, "more than \(limit >> 10) KiB")
                    // The fastest reader reads four times as often as the slowest.
                    let most = seen.bytes.max() ?? 0
                    ChildReport.require(least > 0 && most < least * 16, "one has nothing")
                    // A busy machine also delays a load that is alone. A starved load is late
                    // every time or never ends, which the time limit of the test catches.
                    ChildReport.require(
                        seen.usualSmall < .milliseconds(100) * patience + alone * 20,
                        "one was starved")
                }
                ChildReport.check(result, begins: "slow readers:")
            }

            @Test(
                .timeLimit(.minutes(15)),
                .disabled(if: ProcessFigures.isSanitized, "a shadow of memory needs address space"))
            func `64 slow streams are read within a limited address space`() async {
                await #expect(processExitsWith: .success) {
                    let streams = try SlowReaders()
                    try await streams.loadSmall()
                    try await streams.open()
                    try await streams.read(rounds: 0..<8)
                    // Room for every window once more and for a few Dispatch threads.
                    ProcessFigures.limitAddressSpace(more: 2 * Self.limit)
                    try await streams.read(rounds: 8..<(8 + Self.rounds))
                    let sum = streams.observation.bytes.reduce(0, +)
                    guard sum > Int64(2 * Self.limit) else { exit(2) }
                    await streams.close()
                }
            }
        }
    }
#endif
