// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Which requests belong to a trace.
public enum Tracing: Hashable, Sendable {
    /// Those whose ``TraceParent`` says so.
    case whenAsked
    /// All: a load without a ``TraceParent`` begins a trace of its own, of which a share is sampled.
    ///
    /// The ratio is from 0, none, to 1, all. Servers are told of the others too, so that they do not
    /// decide for themselves.
    case always(ratio: Double)
    /// None, also if they ask for it: no server is told of a trace.
    case off
}
