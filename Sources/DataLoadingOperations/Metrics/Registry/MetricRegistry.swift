// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The numbers of a service, from its start.
///
/// What is counted lies in 16 stripes, each under a lock of its own. A record of an attempt takes one
/// lock, and allocates only for a label set that it is the first to bring. Anything else is read from
/// its source when somebody looks.
final class MetricRegistry: Sendable {
    /// The number of series of a histogram or counter, the one for all that finds no room included.
    static let defaultMaxSeries = 200
    private static let stripeCount = 16

    /// The hosts that have labels of their own.
    let hosts: HostTable
    /// The source identifiers that have labels of their own.
    let sources = SourceTable()
    /// The service that is measured.
    let target: TargetLabels
    private let stripes: [Locked<Stripe>]
    private let added = Locked<[MetricSource]>([])
    /// What credentials have counted.
    let credentials = Locked(CredentialTotals())
    /// What rates have admitted.
    let rules: Locked<RuleTotals>
    /// The number of series of a metric, the one for all that finds no room included.
    let maxSeries: Int

    init(target: TargetLabels, hosts: HostTable, maxSeries: Int = defaultMaxSeries) {
        self.target = target
        self.hosts = hosts
        self.maxSeries = maxSeries
        rules = Locked(RuleTotals(maxSeries: maxSeries))
        stripes = Stripe.make(Self.stripeCount, maxSeries: maxSeries).map { Locked($0) }
    }

    /// The texts of the label sets.
    var names: LabelNames { LabelNames(hosts: hosts, sources: sources) }

    /// The sources that were added.
    var addedSources: [MetricSource] { added.withLock { $0 } }

    /// The stripes as they are now, each at a time of its own.
    ///
    /// They share the storage of the registry's until it changes, so that no lock is held for long.
    var stripesNow: [Stripe] { stripes.map { stripe in stripe.withLock { $0 } } }

    /// Adds a source of families that are read with each scrape.
    ///
    /// It is called on the thread that scrapes, under no lock.
    func add(_ visit: @escaping @Sendable (any MetricVisitor) -> Void) {
        added.withLock { $0.append(MetricSource(visit: visit)) }
    }

    /// Counts an attempt that starts.
    func attemptBegan(_ labels: ActiveLabels) {
        stripe(labels.host.index).withLock { $0.activeRequests.change(labels) { $0.add(1) } }
    }

    /// Counts an attempt that ended, and the nanoseconds that it took; `sample` is its span, if that
    /// was sampled.
    func attemptEnded(
        _ labels: AttemptLabels, nanoseconds: Int64, _ sample: Exemplar.Sample? = nil
    ) {
        let active = ActiveLabels(host: labels.host, method: labels.method)
        stripe(labels.host.index).withLock { stripe in
            stripe.activeRequests.change(active) { $0.add(-1) }
            stripe.requestDuration.change(labels) { $0.add(nanoseconds: nanoseconds, sample) }
        }
    }

    /// Counts a load that ended.
    func loadEnded(_ load: LoadRecord) {
        stripe(load.source.stripe).withLock { stripe in
            stripe.loadDuration.change(load.labels) { $0.add(nanoseconds: load.duration) }
        }
        stripe(load.host.index).withLock { stripe in
            stripe.noteWait(of: load, .slot, load.slotWait)
            stripe.noteWait(of: load, .authorisation, load.authorisationWait)
            stripe.noteWait(of: load, .backoff, load.backOffWait)
            stripe.noteBytes(of: load, .receive, load.received)
            stripe.noteBytes(of: load, .transmit, load.sent)
            guard load.retries > 0 else { return }
            let labels = RetryLabels(host: load.host, error: load.error)
            stripe.retries.change(labels) { $0.add(load.retries) }
        }
    }

    private func stripe(_ index: UInt8) -> Locked<Stripe> {
        stripes[Int(index) % stripes.count]
    }
}

extension Stripe {
    fileprivate mutating func noteWait(
        of load: LoadRecord, _ wait: WaitLabels.Wait, _ nanoseconds: Int64
    ) {
        let labels = WaitLabels(wait: wait, host: load.host.withoutPort)
        loadWaitDuration.change(labels) { $0.add(nanoseconds: nanoseconds) }
    }

    fileprivate mutating func noteBytes(
        of load: LoadRecord, _ direction: TrafficLabels.Direction, _ bytes: Int64
    ) {
        let labels = TrafficLabels(
            direction: direction, host: load.host.withoutPort, source: load.source)
        networkIO.change(labels) { $0.add(max(0, bytes)) }
    }
}

extension SourceLabel {
    /// The number of a stripe; any would do, if it is always the same.
    fileprivate var stripe: UInt8 {
        switch self {
        case .none: 0
        case .known(let index): index
        case .other: .max
        }
    }
}
