// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Dispatch
import Testing

/// Runs tests on a queue instead of the threads that all tasks share.
///
/// Swift has as many of those as there are cores. On two cores, two tests that compute for a second
/// each would hold up for as long every other test, and those that check times would fail.
struct OnQueue: SuiteTrait, TestTrait, TestScoping {
    /// A serial queue has a thread that is counted among no others.
    fileprivate static let computing = DispatchQueue(label: "tests that compute")
    /// Its quality of service gives it threads that are not those of tasks.
    fileprivate static let timed = DispatchQueue(
        label: "tests that check times", qos: .userInitiated, attributes: .concurrent)

    fileprivate let queue: DispatchQueue

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
            return try await function()
        }
        try await withTaskExecutorPreference(QueueExecutor(queue)) { try await function() }
    }
}

extension Trait where Self == OnQueue {
    /// The test computes for seconds: tests of this kind share one thread.
    static var computesForLong: Self { OnQueue(queue: OnQueue.computing) }

    /// The test checks times: no test of another kind has its threads.
    static var checksTimes: Self { OnQueue(queue: OnQueue.timed) }
}
