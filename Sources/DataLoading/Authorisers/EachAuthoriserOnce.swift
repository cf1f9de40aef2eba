// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension [any Authoriser] {
    /// Each authoriser once, where it is found first.
    var eachOnce: [any Authoriser] {
        var seen: Set<ObjectIdentifier> = []
        return filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
}
