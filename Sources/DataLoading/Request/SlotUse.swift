// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The kind of connection slot that a load takes.
///
/// ```swift
/// request.slotUse = .stream
/// request.idleTimeout = .seconds(600)
/// ```
/// Each use has limits of its own, so that streams do not keep the slots of short loads, nor the
/// reverse. Rates, gates, priorities and turns between loaders apply to both alike. Loads of both
/// uses that wait for the same rate start in turns.
public enum SlotUse: Hashable, Sendable, CaseIterable {
    /// The slots of loads that end by themselves, limited by `Limits.perOrigin` and `Limits.total`;
    /// the default.
    case shared
    /// The slots of streams, limited by `Limits.streamsPerOrigin` and `Limits.streams`.
    ///
    /// For a load that may run for hours, such as an event stream. `DataLoaderService.shutDown`
    /// does not wait for such a load.
    case stream
}
