// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension [any Authoriser] {
    /// The authorisers without duplicates, each at its first position.
    var eachOnce: [any Authoriser] {
        var seen: Set<ObjectIdentifier> = []
        return filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
}
