// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading
import Dispatch
import Foundation

/// Checks that a consumption observer keeps up with a service.
///
/// ```swift
/// try await checkObserver(observer, counting: { observer.count })
/// ```
/// The check reports loads of all kinds to the observer: a success, an error status, a failure
/// without a status, a cancellation. It reports 4,096 in a row, and then to two queues at once, as
/// two services do. It runs loads with a scripted transport.
///
/// - Parameters:
///   - observer: The observer.
///   - limit: The real time that one call, and each of the bursts, may take; default 5 seconds.
///   - count: Returns the number of loads that the observer has counted; nil to check no numbers.
/// - Throws: `ContractViolations`, with one sentence for each rule that is broken.
public func checkObserver(
    _ observer: any ConsumptionObserver, limit: Duration = .seconds(5),
    counting count: (@Sendable () -> Int)? = nil
) async throws {
    let contract = ObserverContract(observer, count, limit)
    await contract.check()
    try contract.report.end()
}

/// The steps of the check of one observer.
private struct ObserverContract: Sendable {
    let report = ContractReport()
    private let observer: any ConsumptionObserver
    private let count: (@Sendable () -> Int)?
    private let limit: TimeLimit

    init(
        _ observer: any ConsumptionObserver, _ count: (@Sendable () -> Int)?, _ limit: Duration
    ) {
        self.observer = observer
        self.count = count
        self.limit = TimeLimit(limit)
    }

    func check() async {
        await checkKinds()
        guard report.isClean else { return }
        let response = DataLoaderResponse(request: .contract, statusCode: .ok)
        await step("in a row", loads: 4_096) { queues in
            for _ in 0..<4_096 { queues[0].async { told(response) } }
        }
        guard report.isClean else { return }
        await step("on two queues at once", loads: 2_000) { queues in
            for round in 0..<2_000 { queues[round % 2].async { told(response) } }
        }
    }

    /// Runs one load of each kind with a service.
    private func checkKinds() async {
        let transport = ScriptedTransport(
            [.respond(status: 200), .respond(status: 404), .fail(.dns)], otherwise: .hold)
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        let service = DataLoaderService(configuration: configuration)
        let watcher = ObserverWatcher(observer)
        service.addConsumptionObserver(watcher, on: DispatchQueue(label: "contract.observer"))
        let loader = service.makeFactory().makeDataLoader()
        let before = count?()
        for _ in 0..<3 { _ = try? await loader.response(for: .contract) }
        let token = loader.perform(.contract)
        _ = await transport.attempts(4)
        token.cancel()
        withExtendedLifetime(loader) {}
        let told: [Void]? = await limit.runTask({ await watcher.returns.first(4) })
        guard told != nil else {
            return report.note("endedRequest(with:…) blocks: it does not return in time.")
        }
        await expectCount(
            4, since: before,
            "of a success, an error status, a failure without a status and a cancellation")
    }

    private func step(
        _ how: String, loads: Int, _ body: @escaping @Sendable ([DispatchQueue]) -> Void
    ) async {
        let queues = (0..<2).map { DispatchQueue(label: "contract.observer.\($0)") }
        let before = count?()
        let ended: Void? = await limit.runBlocking {
            body(queues)
            for queue in queues { queue.sync {} }
        }
        guard ended != nil else {
            return report.note("The observer is too slow for \(loads) loads \(how).")
        }
        await expectCount(loads, since: before, "that ended \(how)")
    }

    private func expectCount(_ loads: Int, since before: Int?, _ which: String) async {
        guard let before, let count else { return }
        // It may count on a queue of its own, a little later.
        let _: Void? = await TimeLimit(min(limit.duration, .seconds(1))).runTask {
            while count() &- before < loads, !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        let counted = count() &- before
        report.expect(
            counted == loads,
            "The observer counts \(counted) instead of \(loads) loads \(which).")
    }

    private func told(_ response: DataLoaderResponse) {
        observer.endedRequest(with: response, bytesDownloaded: 200, bytesUploaded: 100)
    }
}

/// Passes reports on to an observer, and records when it returns.
private final class ObserverWatcher: ConsumptionObserver {
    let returns = EventRecorder<Void>()
    private let observer: any ConsumptionObserver

    init(_ observer: any ConsumptionObserver) {
        self.observer = observer
    }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        observer.endedRequest(
            with: response, bytesDownloaded: bytesDownloaded, bytesUploaded: bytesUploaded)
        returns.record(())
    }
}

extension DataLoaderRequest {
    /// A request to a host that does not exist.
    fileprivate static var contract: DataLoaderRequest {
        DataLoaderRequest(
            url: URL(string: "https://contract.invalid/") ?? URL(filePath: "/"),
            sourceIdentifier: "contract")
    }
}
