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
}
