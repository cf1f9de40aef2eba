// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingSupport
package import DataLoadingTransport

/// What responses are stored under: whose they are, and their URL.
package struct CacheKey: Hashable, Sendable {
    /// Whose responses they are: loads of factories with different authorisers never share any.
    package enum Partition: Hashable, Sendable {
        /// Those of all factories without authorisers.
        case shared
        /// Those of one factory, which end with the process.
        case unnamed(Int64)
        /// Those of the factories with this name.
        case named(NameBytes)
    }

    package let partition: Partition
    package let target: RequestTarget

    package init(_ partition: Partition, _ target: RequestTarget) {
        self.partition = partition
        self.target = target
    }
}
