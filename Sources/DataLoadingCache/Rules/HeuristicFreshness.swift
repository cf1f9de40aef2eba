// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// How long a response is fresh that does not say so (RFC 9111 section 4.2.2).
package struct HeuristicFreshness: Hashable, Sendable {
    /// The part of the time since the last modification; 10 %, as the RFC suggests.
    package var fraction = 0.1
    /// The upper limit.
    package var maximum = Duration.seconds(86_400)
    /// Whether a response counts whose URL has a query; such responses often differ each time.
    package var includesQueries = false

    package init() {}
}

extension HTTPStatus {
    /// Whether a response with this status may be fresh without saying so (RFC 9110 section 15.1).
    var isHeuristicallyCacheable: Bool {
        switch rawValue {
        case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }
}
