// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingSupport

extension DescriptorReserve {
    /// Throws `.resources` unless at least as many descriptors are free as are kept.
    package static func checkRoom() throws(DataLoaderError) {
        guard hasRoom else { throw .resources(reason: "file descriptors") }
    }
}
