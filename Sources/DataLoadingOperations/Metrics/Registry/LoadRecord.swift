// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// What the metrics count of a load that ended; times are in nanoseconds.
struct LoadRecord: Sendable {
    let host: HostLabel
    let source: SourceLabel
    let outcome: OutcomeWord
    let error: ErrorLabel?
    var duration: Int64 = 0
    var slotWait: Int64 = 0
    var authorisationWait: Int64 = 0
    var backOffWait: Int64 = 0
    var retries: Int64 = 0
    var received: Int64 = 0
    var sent: Int64 = 0

    var labels: LoadLabels { LoadLabels(source: source, outcome: outcome, error: error) }
}
