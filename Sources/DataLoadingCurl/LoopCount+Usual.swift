// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingTransport
import CCurl

extension LoopCount {
    /// The number of loops of a service by default: one for up to seven cores, then one for each four.
    ///
    /// A loop that loads small responses keeps one core busy, and what delegates do with them the
    /// others. In a container only the cores of its quota count.
    package static let usual = usual(cores: Int(ccurl_core_count()), quota: CoreQuota.ofProcess)

    static func usual(cores: Int, quota: Double?) -> Int {
        let cores = min(Double(cores), quota ?? .infinity)
        return min(range.upperBound, max(1, Int(cores / 4)))
    }
}
