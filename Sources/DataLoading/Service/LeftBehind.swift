// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a reset or a shut-down stopped waiting for, because it took too long.
///
/// Nothing of it is lost: a load's outcome is handed over when its queue runs again, and an authoriser
/// or transport that is slow goes on. It is worth a line in a log, as something is blocked.
///
/// ```swift
/// let left = await service.reset()
/// if !left.isEmpty { print("blocked:", left) }
/// ```
public struct LeftBehind: Hashable, Sendable {
    /// Loads that have ended without an outcome that was handed over.
    ///
    /// Their delegate queue or their sink is blocked. A shut-down also counts loads whose socket is not
    /// closed. A request body that blocks is not waited for.
    public var loads = 0
    /// Authorisers whose `reset()` has not returned.
    public var authorisers = 0
    /// Whether the transport has not finished.
    public var transport = false

    /// Makes one that is empty.
    public init() {}

    /// Whether everything was done in time.
    public var isEmpty: Bool { self == LeftBehind() }

    /// How long ended loads are waited for until their outcome is handed over.
    static let handOverLimit = Duration.seconds(2)
    /// How long one authoriser may take: more than a log out of OAuth whose store and server hang.
    static let authoriserLimit = Duration.seconds(150)
    /// How long the transport may take.
    static let transportLimit = Duration.seconds(30)
    /// How long a reset of the service keeps factories closed for the sake of one that is not done.
    static let serviceLimit = Duration.seconds(5)

    static func += (left: inout LeftBehind, right: LeftBehind) {
        left.loads += right.loads
        left.authorisers += right.authorisers
        left.transport = left.transport || right.transport
    }
}
