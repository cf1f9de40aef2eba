// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A host of the `HostTable`, with its port; or any other host, without one.
///
/// Only the table makes one: a redirect to a host or port of the server's choice adds no value.
struct HostLabel: Hashable, Sendable {
    /// The index in the table.
    let index: UInt8
    /// The port; 0 for another host, and where ports are not told apart.
    let port: UInt16

    static let other = HostLabel(index: .max, port: 0)

    /// The host, whatever its port.
    var withoutPort: HostLabel { HostLabel(index: index, port: 0) }

    // In one step: hashing is most of what a record costs.
    func hash(into hasher: inout Hasher) {
        hasher.combine(UInt32(index) << 16 | UInt32(port))
    }
}
