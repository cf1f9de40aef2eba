// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A random number generator behind a lock; tests replace it by a seeded one.
package final class RandomSource: Sendable {
    private let generator: Locked<any RandomNumberGenerator & Sendable>

    /// The system's randomness, shared.
    package static let system = RandomSource()

    package init(
        _ generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.generator = Locked(generator)
    }

    /// Calls `body` with the generator, under the lock; `body` must not call a user's code.
    package func withGenerator<Result: Sendable>(
        _ body: (inout any RandomNumberGenerator & Sendable) -> Result
    ) -> Result {
        generator.withLock { body(&$0) }
    }
}
