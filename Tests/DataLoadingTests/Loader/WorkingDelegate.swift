// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation

/// Runs a test's code in each successful outcome, and then records it; records the others.
final class WorkingDelegate: DataLoaderDelegate {
    let outcomes = EventRecorder<DataLoaderError?>()
    private let work: @Sendable (DataLoader) -> Void

    init(_ work: @escaping @Sendable (DataLoader) -> Void) {
        self.work = work
    }

    /// The name of the calling thread, as Linux has it.
    static var threadName: String {
        let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        return String(name?.dropLast() ?? "")
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) {
        work(dataLoader)
        outcomes.record(nil)
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) { outcomes.record(response.error) }

    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {
        outcomes.record(.cancelled)
    }
}
