// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The place of a span in its trace.
struct SpanPlace: Hashable, Sendable {
    /// The span itself, as those that it causes are told.
    let own: TraceContext
    /// The span that it is inside of; nil for one that begins a trace.
    let parent: TraceContext?
}
