// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A provider with a thread of its own, on which the limiter's tasks for it run.
///
/// It asks for slots on the thread of the load that needs them, where its connection allows that, and
/// takes the answer on its own: the load then waits for one thread of its process to be woken.
package protocol ExecutingQuotaProvider: QuotaProvider {
    /// Runs the jobs of tasks between the answers of the store, and elsewhere while its thread may
    /// be blocked or has ended.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    var taskExecutor: any TaskExecutor { get }

    /// Leases as ``QuotaProvider/lease(_:)`` does, and does not block.
    ///
    /// `answer` is called exactly once, with no lock held and never within the call.
    func lease(
        _ request: QuotaRequest,
        answer: @escaping @Sendable (Result<QuotaLease, any Error>) -> Void)
}
