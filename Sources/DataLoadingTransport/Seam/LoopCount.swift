// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The number of event loops of a transport that may have several.
package enum LoopCount {
    /// The range ends above the cores that one network card keeps busy.
    package static let range = 1...64
}
