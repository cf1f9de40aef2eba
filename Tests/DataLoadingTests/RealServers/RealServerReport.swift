// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingCurl
    import DataLoading
    import DataLoadingSupport
    import Foundation

    /// Runs the scene against one server and reports the result.
    struct RealServerReport {
        private let kind: RealServer.Kind
        private let seed: UInt64
        private let duration: Duration

        init(_ kind: RealServer.Kind) {
            self.kind = kind
            let environment = ProcessInfo.processInfo.environment
            seed =
                environment["DATALOADING_SEED"].flatMap { UInt64($0) }
                ?? UInt64(Date().timeIntervalSince1970)
            duration = SceneSettings.duration
        }

        func run() async throws {
            ChildReport.tell("\(kind): seed \(seed), \(duration)")
            // Runs once before, so that lazily created objects exist before the measurement.
            try await scene(for: .seconds(2), isReported: false)
            let before = await SocketFootprint.measured()
            try await scene(for: duration, isReported: true)
            let after = await SocketFootprint.settled(within: before, moreThreads: 0)
            ChildReport.tell("before: \(before)\nafter: \(after)")
            ChildReport.require(after.isWithin(before, moreThreads: 0), "left: \(after)")
        }

        private func scene(for duration: Duration, isReported: Bool) async throws {
            let server = try RealServer(kind, site: ServerSite())
            let scene = try MixedScene(server: server, seed: seed, disturbingEvery: 500)
            let begun = ContinuousClock.now
            let figures = isReported ? SceneFigures(kind, scene.ledger) : nil
            defer { figures?.stop() }
            // Memory use settles in a fifth of the time.
            let first = try await scene.run(for: duration / 5)
            let warm = ProcessFigures.heldBytes
            let disturbances = first + (try await scene.run(for: duration / 5 * 4))
            let grown = ProcessFigures.heldBytes - warm
            let time = ContinuousClock.now - begun
            server.stop()
            let logs = server.logs
            guard isReported else { return }

            let tally = scene.ledger.tally
            let faults = scene.ledger.faults(front: logs.front, behind: logs.behind)
            ChildReport.tell(
                "\(kind): \(tally.performed) loads in \(time), \(disturbances) disturbances,",
                "\(tally.cancelled) cancelled, \(tally.dropped) dropped, \(tally.posts.count) POSTs,",
                "\(logs.front.count) in the log, \(logs.behind.count) behind;",
                "\(warm >> 10) KiB warm, \(grown >> 10) KiB more at the end;",
                "the slowest took \(tally.slowest); \(tally.deaths) deaths of its own")
            ChildReport.tell("by version:", "\(tally.versions.sorted { $0.key < $1.key })")
            for (what, count) in tally.endings.sorted(by: { $0.key < $1.key }) {
                ChildReport.tell("  \(count) × \(what)")
            }
            for (what, count) in tally.wrong { ChildReport.require(false, "\(count) × \(what)") }
            for fault in faults.prefix(20) { ChildReport.require(false, fault) }
            ChildReport.require(faults.count <= 20, "\(faults.count) faults of POSTs in all")
            ChildReport.require(
                tally.performed == tally.ended + tally.dropped && tally.doubles == 0,
                "\(tally.ended) of \(tally.performed - tally.dropped) ended, \(tally.doubles) twice"
            )
            ChildReport.require(
                tally.isObserved,
                "observers heard of \(tally.observed) of \(tally.performed), \(tally.tasks)")
            // A load that took that long was stuck until an idle limit ended it.
            ChildReport.require(tally.slowest < Timeouts().idle, "one took \(tally.slowest)")
            ChildReport.require(disturbances > 3, "\(disturbances) disturbances")
            // The ledger remembers each POST: with room to grow, twice nine bytes.
            let known = 18 * tally.posts.count
            ChildReport.require(
                ProcessFigures.isSanitized || grown <= 32 << 20 + known, "\(grown >> 20) MiB more")
        }
    }
#endif
