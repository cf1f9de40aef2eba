// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Why a benchmark cannot run, as a message for the user.
struct Complaint: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
