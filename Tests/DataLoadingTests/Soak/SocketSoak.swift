// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingAuth
    import DataLoadingSupport
    import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Dispatch
    import Foundation

    /// Keeps 64 loads running, one in ten of them with a fault, and checks their outcomes.
    final class SocketSoak: DataLoaderChunkDelegate {
        static let isLong = ProcessInfo.processInfo.environment["DATALOADING_SOAK"] == "1"
        static let width = 64

        struct Tally: Sendable {
            var performed = 0
            var ended = 0
            var faults = 0
            /// The number of second outcomes.
            var doubles = 0
            /// Outcomes that the matrix does not allow, with their numbers.
            var wrong: [String: Int] = [:]
            /// Outcomes more than five seconds after the deadline; a slow body lasts for a minute.
            var late = 0
        }

        private struct Running: Sendable {
            let origin: SoakOrigin
            let cell: FaultCell
        }

        private struct State: Sendable {
            var generator: SeededGenerator
            var tally = Tally()
            var running: [Int64: Running] = [:]
            var end = ContinuousClock.now
            var waiter: CheckedContinuation<Void, Never>?
        }

        private let healthy: [SoakOrigin]
        private let faulty: [SoakOrigin]
        private let state: Locked<State>
        /// Nil once everything is stopped.
        private let owners: Locked<(service: DataLoaderService, loader: DataLoader)?>

        init(seed: UInt64) throws {
            healthy = try (0..<4).map { _ in try SoakOrigin.healthy() }
            faulty = try FaultTable.all.compactMap(SoakOrigin.faulty)
            state = Locked(State(generator: SeededGenerator(seed: seed)))
            var configuration = DataLoaderService.Configuration()
            configuration.transport = TracedTransport(
                next: CurlTransport(loops: .ofTests), tracer: FaultTracer())
            configuration.limits.perOrigin = Self.width
            configuration.limits.body = FaultRunner.bodyLimit
            configuration.timeouts.idle = (Self.isLong ? .seconds(2) : .seconds(30)) * patience
            configuration.retry.maximumRetryCount = 1
            configuration.retry.timer = ExponentialTimer(
                initialTime: .milliseconds(1), maxTime: .milliseconds(1), jitter: .none)
            let service = DataLoaderService(configuration: configuration)
            let loader = service.makeFactory().makeDataLoader()
            owners = Locked((service, loader))
            loader.delegate = self
        }

        var tally: Tally { state.withLock { $0.tally } }
        var faultCount: Int { faulty.count }

        /// Runs for a duration and then until every load has ended.
        func run(for duration: Duration) async {
            let end = ContinuousClock.now + duration
            state.withLock { $0.end = end }
            for _ in 0..<Self.width { performNext() }
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.running.isEmpty { return true }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        }

        /// Stops everything.
        func close() async {
            await owners.withLock { $0.take() }?.service.shutDown(gracePeriod: .zero)
            for origin in healthy + faulty { origin.server.stop() }
        }

        private func performNext() {
            let request = state.withLock { state -> DataLoaderRequest? in
                guard ContinuousClock.now < state.end else { return nil }
                let isFault = Int.random(in: 0..<10, using: &state.generator) == 0
                let origins = isFault ? faulty : healthy
                let cells = FaultAxes.plainFirst.cells
                guard let origin = origins.randomElement(using: &state.generator),
                    let cell = cells.randomElement(using: &state.generator)
                else { return nil }
                let request = origin.request(cell)
                state.tally.performed += 1
                if isFault { state.tally.faults += 1 }
                state.running[request.uniqueIdentifier] = Running(origin: origin, cell: cell)
                return request
            }
            guard let request else { return }
            owners.withLock { $0 }?.loader.perform(request)
        }

        private func end(_ request: DataLoaderRequest, _ response: DataLoaderResponse?) {
            let kind = response.map { $0.error?.name ?? FaultExpectation.success } ?? "cancelled"
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard let load = state.running.removeValue(forKey: request.uniqueIdentifier) else {
                    state.tally.doubles += 1
                    return nil
                }
                state.tally.ended += 1
                if !load.origin.allows(kind, in: load.cell) {
                    state.tally.wrong[
                        "\(kind) of \(load.origin.title), \(load.cell)", default: 0] += 1
                }
                if let timeout = request.timeout, let time = response?.requestTime,
                    time > timeout + .seconds(5) * patience
                {
                    state.tally.late += 1
                }
                guard state.running.isEmpty, ContinuousClock.now >= state.end else { return nil }
                return state.waiter.take()
            }
            performNext()
            waiter?.resume()
        }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
        ) { end(response.request, response) }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
        ) { end(response.request, response) }

        func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {
            end(request, nil)
        }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveInitialResponse response: DataLoaderResponse
        ) {}

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
            forResponse response: DataLoaderResponse
        ) {}

        func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool { true }
    }
#endif
