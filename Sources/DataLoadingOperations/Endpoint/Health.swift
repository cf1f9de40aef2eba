// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Whether a daemon works, and whether it takes loads.
public struct Health: Hashable, Sendable {
    /// Whether the service's timer and each thread of its transport answer; else a restart may
    /// help.
    public let isLive: Bool
    /// Whether new loads may start; false before the start, and while the service shuts down.
    public let isReady: Bool
    /// What is wrong, in words; empty when nothing is.
    ///
    /// A ready service may have some, too: a store of shared rates that does not answer may do so again,
    /// and a credential that could not be fetched is fetched for the next load.
    public let reasons: [String]
}
