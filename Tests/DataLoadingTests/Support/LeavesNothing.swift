// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Testing

/// Fails a test that leaves more sockets, threads or transports than there were before it.
///
/// Resources may still be closing, so they are counted several times instead of for a duration: on
/// a busy machine the counts take longer too. Tests with this trait must run one after another, and
/// no other test may use a socket in the meantime.
struct LeavesNothing: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let before = SocketFigures.now
        try await function()
        if let leftovers = await Self.leftovers(since: before) {
            Issue.record("it left \(leftovers)", sourceLocation: test.sourceLocation)
        }
    }

    /// The figures that have grown at the last count, in words; counts are two milliseconds apart,
    /// or more on a busy machine.
    static func leftovers(
        since before: SocketFigures, looks: Int = 30_000
    ) async -> String? {
        var left = looks
        while true {
            let more = SocketFigures.now.excess(over: before)
            left -= 1
            if more == nil || left <= 0 { return more }
            await withCheckedContinuation { continuation in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(2)) {
                    continuation.resume()
                }
            }
        }
    }
}

extension Trait where Self == LeavesNothing {
    /// A test must release all its sockets, threads and transports.
    static var leavesNothing: Self { LeavesNothing() }
}
