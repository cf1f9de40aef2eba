// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The service's settings for attempts.
struct AttemptSettings: Sendable {
    let userAgent: String?
    let timeouts: Timeouts
    let refusesPrivateAddresses: Bool
    let http2: HTTP2Use
    let proxy: Proxy?
    /// The limit of whole loads in nanoseconds, which every load needs; nil for none.
    let total: Int64?

    init(
        userAgent: String?, timeouts: Timeouts, refusesPrivateAddresses: Bool, http2: HTTP2Use,
        proxy: Proxy?
    ) {
        self.userAgent = userAgent
        self.timeouts = timeouts
        self.refusesPrivateAddresses = refusesPrivateAddresses
        self.http2 = http2
        self.proxy = proxy
        total = timeouts.total?.wholeNanoseconds
    }
}
