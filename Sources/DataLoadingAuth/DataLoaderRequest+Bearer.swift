// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

extension DataLoaderRequest {
    /// Adds a bearer token (RFC 6750 section 2.1).
    mutating func addBearer(_ token: String) {
        headers["Authorization"] = "Bearer " + token
    }
}
