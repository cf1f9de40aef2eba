// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The number of bytes of a body that were transferred.
public struct BodyProgress: Hashable, Sendable {
    /// The bytes transferred so far.
    public var completed: Int64
    /// The size of the whole body in bytes; nil when it is not known.
    public var total: Int64?
}
