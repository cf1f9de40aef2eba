// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A fallback address of a host, and whether it is used.
public struct AddressState: Hashable, Sendable {
    /// What an address is used for.
    public enum Condition: Hashable, Sendable {
        /// Any load may use it.
        case inUse
        /// It failed, and no load uses it as long as others are left.
        case ejected
        /// Its ejection is over, and the next load tries it.
        case due
        /// One load tries it.
        case probing
    }

    /// The host that has the address.
    public let host: String
    /// The address; the host itself means what DNS says.
    public let address: String
    /// What it is used for.
    public let condition: Condition
    /// How long it stays ejected; nil when it is not.
    public let ejectionRemaining: Duration?
    /// How often it was ejected since a host has listed it.
    public let ejections: Int64
    /// Why it last did not serve an attempt, with which it may not have been ejected: the name of the
    /// error, as "connect_refused", or the status, as "503"; nil when it has served all.
    public let lastFailure: String?
}
