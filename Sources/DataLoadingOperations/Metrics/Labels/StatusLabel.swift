// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// A status that IANA's registry lists; a server may send any number.
struct StatusLabel: Hashable, Sendable {
    let code: UInt16

    /// Nil for a status that is not listed.
    init?(_ status: HTTPStatus) {
        guard let code = UInt16(exactly: status.rawValue), Self.isListed(code) else { return nil }
        self.code = code
    }

    var label: Label { Label("http.response.status_code", String(code)) }

    /// The registry without what is listed for a time only (104).
    private static func isListed(_ code: UInt16) -> Bool {
        switch code {
        case 100...103, 200...208, 226, 300...308, 400...418, 421...426, 428, 429, 431, 451,
            500...508, 510, 511:
            true
        default: false
        }
    }
}
