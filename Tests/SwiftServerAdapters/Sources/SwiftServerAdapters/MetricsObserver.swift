// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Metrics

/// Records each load that ended, and what a service does, with swift-metrics.
///
/// ```swift
/// let observer = MetricsObserver(hosts: ["api.example.com"], sources: ["feeds"])  // keep it
/// service.addConsumptionObserver(observer, on: DispatchQueue(label: "metrics"))
/// observer.record(service.snapshot())  // every 15 seconds, because swift-metrics does not ask
/// ```
/// No label has a text that a server or a user chose: hosts and sources that are not named here are
/// "_OTHER". The names are those of `DataLoadingOperations`, which tells more: swift-metrics has no
/// exemplars and no buckets for each metric, and an observer learns nothing of single attempts, such
/// as the status of one that was retried.
final class MetricsObserver: ConsumptionObserver {
    private let hosts: Set<String>
    private let sources: Set<String>
    private let factory: any MetricsFactory

    init(
        hosts: Set<String>, sources: Set<String> = [],
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        self.hosts = hosts
        self.sources = sources
        self.factory = factory
    }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        let metrics = response.metrics
        let host = ("server.address", label(response.request.url.host()?.lowercased(), hosts))
        let source = ("dataloading.source", label(response.request.sourceIdentifier, sources))
        let (outcome, reason) = Self.outcome(response.error)
        // A metric has the same labels each time, as Prometheus asks.
        record(
            metrics.totalTime, "dataloading.load.duration",
            [source, ("dataloading.outcome", outcome), ("error.type", reason)])
        for (wait, time) in [
            ("slot", metrics.admissionTime), ("authorisation", metrics.authorisationTime),
            ("backoff", metrics.backOffTime),
        ] {
            record(time, "dataloading.load.wait.duration", [host, ("dataloading.wait", wait)])
        }
        count(Int64(metrics.retries), "dataloading.retries", [host])
        for (direction, bytes) in [("receive", bytesDownloaded), ("transmit", bytesUploaded)] {
            let labels = [host, source, ("network.io.direction", direction)]
            count(bytes, "dataloading.network.io", labels)
        }
    }

    /// Records queues, closed gates and addresses out of use; zeros too, as a meter keeps its value.
    func record(_ snapshot: ServiceSnapshot) {
        let host = { (origin: String) in self.label(URL(string: origin)?.host(), self.hosts) }
        let origins = Dictionary(grouping: snapshot.origins) { host($0.origin) }
        let rules = Dictionary(grouping: snapshot.rules) { host($0.origin) }
        for host in hosts.union(["_OTHER"]) {
            let waiting = origins[host, default: []].reduce(0) { $0 + $1.waiting }
            let running = origins[host, default: []].reduce(0) { $0 + $1.running }
            let gate = rules[host, default: []].compactMap(\.gateRemaining).max() ?? .zero
            set(Double(waiting), "dataloading.queue.size", [("server.address", host)])
            set(Double(running), "http.client.active_requests", [("server.address", host)])
            set(gate / .seconds(1), "dataloading.gate.remaining", [("server.address", host)])
        }
        for address in snapshot.addresses {
            set(
                address.condition == .inUse ? 1 : 0, "dataloading.address.available",
                [
                    ("server.address", label(address.host, hosts)),
                    ("network.peer.address", address.address),
                ])
        }
        set(Double(snapshot.droppedConsumptionNotices), "dataloading.observer.dropped")
    }

    private static func outcome(_ error: DataLoaderError?) -> (String, String) {
        guard let error else { return ("success", "none") }
        switch error.kind {
        case .cancelled: return ("cancelled", "none")
        // A server chooses its status: one label for each hundred.
        case .status(let status) where (400..<600).contains(status.rawValue):
            return ("failure", "\(status.rawValue / 100)xx")
        case .status: return ("failure", "_OTHER")
        default: return ("failure", error.name)
        }
    }

    private func label(_ name: String?, _ known: Set<String>) -> String {
        name.map { known.contains($0) ? $0 : "_OTHER" } ?? "none"
    }

    private func record(_ time: Duration, _ name: String, _ labels: [(String, String)]) {
        Metrics.Timer(label: name, dimensions: labels, factory: factory).record(duration: time)
    }

    private func count(_ amount: Int64, _ name: String, _ labels: [(String, String)]) {
        Counter(label: name, dimensions: labels, factory: factory).increment(by: amount)
    }

    private func set(_ value: Double, _ name: String, _ labels: [(String, String)] = []) {
        Meter(label: name, dimensions: labels, factory: factory).set(value)
    }
}
