// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderRequest {
    /// Adds a token as RFC 6750 section 2.1 has it.
    mutating func addBearer(_ token: String) {
        headers["Authorization"] = "Bearer " + token
    }
}
