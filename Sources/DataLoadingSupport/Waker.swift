// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Wakes one task, whether it already waits or not.
package final class Waker: Sendable {
    private enum State: Sendable {
        case early
        case asleep(CheckedContinuation<Void, Never>)
        case awake
    }

    private let state = Locked(State.early)

    package init() {}

    package func wait() async {
        await withCheckedContinuation { continuation in
            let isAwake = state.withLock { state in
                if case .awake = state { return true }
                state = .asleep(continuation)
                return false
            }
            if isAwake { continuation.resume() }
        }
    }

    package func wake() {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { state = .awake }
            if case .asleep(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume()
    }
}
