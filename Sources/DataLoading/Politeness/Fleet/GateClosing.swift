// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// A gate of this daemon that the others are to be told of.
struct GateClosing: Sendable {
    /// When it opens.
    var end: Instant
    /// The end that is being told.
    var told: Instant?
    var exchange = QuotaExchange.none
    /// How often in a row the others could not be told.
    var failures = 0
}
