// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// The labels of a load that ended.
struct LoadLabels: LabelSet {
    let source: SourceLabel
    let outcome: OutcomeWord
    let error: ErrorLabel?

    func labels(_ names: LabelNames) -> [Label] {
        let all = [
            source.label(names), Label("dataloading.outcome", outcome.rawValue), error?.label,
        ]
        return all.compactMap(\.self)
    }
}

/// The labels of the time for which loads waited.
struct WaitLabels: LabelSet {
    enum Wait: String, CaseIterable, Sendable {
        /// For a rate slot, `Retry-After` or a connection slot.
        case slot
        /// For authorisers.
        case authorisation
        /// Between attempts.
        case backoff
    }

    let wait: Wait
    /// The host without its port, which is no label here.
    let host: HostLabel

    func labels(_ names: LabelNames) -> [Label] {
        [Label("dataloading.wait", wait.rawValue), names.hosts.addressLabel(host)]
    }
}

/// The labels of the retries of a load.
struct RetryLabels: LabelSet {
    let host: HostLabel
    /// The error of the load; nil where the retry helped.
    let error: ErrorLabel?

    func labels(_ names: LabelNames) -> [Label] {
        names.hosts.labels(host) + [error?.label].compactMap(\.self)
    }
}
