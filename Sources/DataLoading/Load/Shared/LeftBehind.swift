// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The work that a reset or a shut-down stopped waiting for, because it took too long.
///
/// ```swift
/// let left = await service.reset()
/// if !left.isEmpty { print("blocked:", left) }
/// ```
/// Nothing is lost: the outcome of a load is delivered when its queue runs again. The task of a
/// slow authoriser or transport is cancelled, and may still finish its work. Log a value that is
/// not empty, because something is blocked.
public struct LeftBehind: Hashable, Sendable {
    /// The number of ended loads whose outcome was not delivered.
    ///
    /// Their delegate queue or their sink is blocked. A shut-down also counts loads whose socket is
    /// not closed. A request body that blocks does not count.
    public var loads = 0
    /// The number of authorisers whose `reset()` has not returned.
    public var authorisers = 0
    /// Whether the transport has not finished.
    public var transport = false
    /// Whether the cache has not removed what it has stored, because its disk is blocked or takes
    /// no changes.
    ///
    /// Until the process ends, none of it answers a load.
    public var cache = false

    /// Whether everything finished in time.
    public var isEmpty: Bool { self == LeftBehind() }

    /// The time limit for delivering the outcomes of ended loads.
    static let handOverLimit = Duration.seconds(2)
    /// The time limit for the goodbye to the daemons that rates are shared with.
    static let goodbyeLimit = Duration.seconds(1)
    /// The time limit for one authoriser.
    ///
    /// It is longer than an OAuth logout whose store and server do not respond.
    static let authoriserLimit = Duration.seconds(150)
    /// The time limit for the transport.
    static let transportLimit = Duration.seconds(30)
    /// The time for which a reset of the service keeps all factories closed while one of them is
    /// slow.
    static let serviceLimit = Duration.seconds(5)

    static func += (left: inout LeftBehind, right: LeftBehind) {
        left.loads += right.loads
        left.authorisers += right.authorisers
        left.transport = left.transport || right.transport
        left.cache = left.cache || right.cache
    }
}
