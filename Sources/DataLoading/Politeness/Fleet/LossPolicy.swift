// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a daemon does while the store of its rates does not answer.
///
/// The rates of the daemons that still reach the store are lowered within 3 s by what the others
/// use. That lasts as long as those count as known: 30 s.
public enum LossPolicy: Hashable, Sendable {
    /// Uses its equal share, the rate divided by the number of known daemons, for some time, and
    /// pauses then; nil for as long as it takes.
    ///
    /// With 30 s or less all daemons together stay within the rate once the others have noticed. With
    /// nil they exceed it after 30 s, by the shares of those that do not reach the store, up to twice
    /// the rate.
    case share(for: Duration?)
    /// Starts no load whose key has a rate.
    ///
    /// The daemons that reach the store then use all of the rate, so set it in all of them or in none.
    case pause
}
