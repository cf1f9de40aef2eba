// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A provider with a thread of its own, on which the limiter's tasks for it run.
///
/// A load that waits for a slot then waits for no other thread to be woken: one to ask, and one to
/// take the answer.
package protocol ExecutingQuotaProvider: QuotaProvider {
    /// Runs the jobs of tasks between the answers of the store, and elsewhere while its thread may
    /// be blocked or has ended.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    var taskExecutor: any TaskExecutor { get }
}
