// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The service's settings for attempts.
struct AttemptSettings: Sendable {
    let userAgent: String?
    let timeouts: Timeouts
    let refusesPrivateAddresses: Bool
    let http2: HTTP2Use
    let proxy: Proxy?
}
