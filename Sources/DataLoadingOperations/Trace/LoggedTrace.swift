// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What the line of a load in a log says of its trace.
struct LoggedTrace: Hashable, Sendable {
    let traceID: String
    /// The load's own span; nil where loads are no spans.
    let spanID: String?
}
