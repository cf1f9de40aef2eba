// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Testing

/// Fails a test after which there are more sockets, threads or transports than before it.
///
/// What has ended may be on its way out, so it is looked at a number of times and not for a time: on a
/// busy machine the looks come later too. Tests that are under it must run one after another, and no
/// other test may use a socket meanwhile.
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

    /// What there is more of than before, in words, at the last look; two milliseconds lie between
    /// two of them, and more when the machine is late.
    static func leftovers(
        since before: SocketFigures, looks: Int = 1_500 * patience
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
    /// What a test takes of sockets, threads and transports must be gone when it is over.
    static var leavesNothing: Self { LeavesNothing() }
}
