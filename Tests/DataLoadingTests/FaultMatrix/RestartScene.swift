// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation

    /// A server that is killed during loads, refuses connections for a while and answers again.
    struct RestartScene: Sendable {
        /// How the connections of a dead server end.
        enum Death: CaseIterable, Sendable { case closing, resetting }

        /// Half of them GET, half POST.
        static let loads = 200
        private static let isLong = ProcessInfo.processInfo.environment["DATALOADING_SOAK"] == "1"
        /// How long the server is away; 3 s with `DATALOADING_SOAK=1`.
        private static let outage: Duration = isLong ? .seconds(3) : .milliseconds(300)
        /// Each way to die with each kind of load, or each of them once.
        static let all =
            isLong
            ? Death.allCases.flatMap { death in
                [false, true].map { RestartScene(death: death, waits: $0) }
            }
            : [
                RestartScene(death: .closing, waits: true),
                RestartScene(death: .resetting, waits: false),
            ]

        let death: Death
        /// Whether the loads wait for connectivity.
        let waits: Bool

        /// The result of a scene.
        struct Observation: Sendable {
            var GETs = 0
            var successfulGETs = 0
            var successfulPOSTs = 0
            var ends = 0
            /// The number of loads that ended after their deadline.
            var late = 0
            /// The attempts of all loads, including those that found no server.
            var attempts = 0
            /// The requests that the server saw, and the maximum for any one POST.
            var requests = 0
            var mostOfOnePOST = 0
            var errors: [String: Int] = [:]
        }

        func play() async throws -> Observation {
            let mayAnswer = LoopbackGate()
            let server = try LoopbackServer { _ in .ok("fine").preceded(by: .wait(for: mayAnswer)) }
            defer { server.stop() }
            let service = DataLoaderService()
            let delegate = RecordingDelegate()
            let loader = service.makeFactory().makeDataLoader(
                delegate: delegate, delivery: .ofTests)
            for number in 0..<Self.loads { loader.perform(request(number, server)) }
            // As many as a host gets at once by default; the others wait for a slot.
            await server.waitForHeads(8)
            server.goDown(resettingConnections: death == .resetting)
            mayAnswer.open()
            await Self.pass(Self.outage)
            try server.comeUp()
            let ends = await delegate.outcomes(Self.loads)
            await service.shutDown(gracePeriod: .zero)
            withExtendedLifetime(loader) {}
            return observation(ends, delegate.events.count(where: \.isTerminal), server)
        }

        private func request(_ number: Int, _ server: LoopbackServer) -> DataLoaderRequest {
            var request = DataLoaderRequest(url: server.url("/\(number)"))
            if number % 2 == 1 {
                request.method = .post
                request.body = .data(Data("number \(number)".utf8))
            }
            // As many as an outage of 3 s may take.
            request.maximumRetryCount = 8
            request.waitsForConnectivity = waits
            request.timeout = .seconds(30) * patience
            return request
        }

        private func observation(
            _ ends: [RecordingDelegate.Event], _ count: Int, _ server: LoopbackServer
        ) -> Observation {
            var seen = Observation()
            seen.ends = count
            for response in ends.compactMap(\.response) {
                let isPOST = response.request.method == .post
                if !isPOST { seen.GETs += 1 }
                seen.attempts += response.metrics.attempts
                if response.requestTime > .seconds(31) * patience { seen.late += 1 }
                if let error = response.error {
                    seen.errors[(isPOST ? "POST " : "GET ") + error.name, default: 0] += 1
                } else if isPOST {
                    seen.successfulPOSTs += 1
                } else {
                    seen.successfulGETs += 1
                }
            }
            let POSTs = server.requests.filter { $0.method == .post }
            let copies = Dictionary(grouping: POSTs, by: \.target).mapValues(\.count)
            seen.requests = server.requestCount
            seen.mostOfOnePOST = copies.values.max() ?? 0
            return seen
        }

        /// Lets time pass in steps without a thread.
        private static func pass(_ duration: Duration) async {
            let begun = ContinuousClock.now
            while ContinuousClock.now - begun < duration {
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) {
                        continuation.resume()
                    }
                }
            }
        }
    }
#endif
