// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What was set and cannot be meant, where it is set by a function that does not throw.
///
/// Loads that it concerns end with it before anything is sent, until it is set right; `validate()`
/// of what it was set on throws it. It names the part, never its content, which may be a secret.
extension DataLoaderError {
    static let malformedHosts = invalidConfiguration(
        reason: "an authoriser's host is neither a name, an address, nor one of them with a port")
    static let noHosts = invalidConfiguration(reason: "an authoriser has no hosts")
    static let malformedAddress = invalidConfiguration(
        reason: "an address of the host is neither a name nor an address")
    static let malformedAddressedHost = invalidConfiguration(
        reason: "addresses were set for what is no host")
    static let malformedRate = invalidConfiguration(
        reason: "a rate is negative, infinite or not a number")
    static let malformedRatedURL = invalidConfiguration(
        reason: "a rate was set for what is no http or https URL")
}

/// Something whose configuration may be malformed.
protocol Validatable: Sendable {
    /// The first malformed part.
    var malformedPart: DataLoaderError? { get }
}

/// The malformed settings of one object: for what they were meant, or for what nobody can tell.
struct MalformedSettings<Key: Hashable & Sendable>: Sendable {
    private var byKey: [Key: DataLoaderError] = [:]
    private var unattributable: [String: DataLoaderError] = [:]

    var isEmpty: Bool { byKey.isEmpty && unattributable.isEmpty }

    /// Any of them.
    var first: DataLoaderError? { unattributable.values.first ?? byKey.values.first }

    /// What concerns the loads of one of the keys: what was set for it, or for what is no key.
    func concerning(_ keys: Key...) -> DataLoaderError? {
        unattributable.values.first ?? keys.lazy.compactMap { byKey[$0] }.first
    }

    /// Notes what was set for a key; nil when it was set right.
    mutating func set(_ fault: DataLoaderError?, for key: Key) { byKey[key] = fault }

    /// Notes what was set for a text that means no key; nil when it was taken back.
    mutating func set(_ fault: DataLoaderError?, forText text: String) {
        unattributable[text] = fault
    }
}
