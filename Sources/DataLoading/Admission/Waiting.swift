// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// A load that waits for admission.
protocol Waiting: AnyObject, Sendable {
    /// The load holds its slots; called once for a ticket that was not withdrawn, under no lock.
    func admitted(epoch: Int)
    /// The load's key may have changed; called instead of `admitted`, under no lock.
    func mustAskAgain(epoch: Int)
    /// The load cannot start before its deadline; called instead of `admitted`, under no lock.
    func refused(epoch: Int, _ error: DataLoaderError)
    /// Whether other loads, with deadlines of their own, wait for this one.
    var isShared: Bool { get }
    /// The earliest and the latest deadline of those loads, in the distant future without one.
    ///
    /// They are asked for under the lock of the admission.
    var deadlines: (earliest: Instant, latest: Instant) { get }
    /// The rate of a load that is shared has changed, and its turn now comes after a wait; nil when
    /// that has changed again. Called under no lock.
    func waits(for wait: Duration?)
}
