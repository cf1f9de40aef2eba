// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The chance of pauses and ports: a generator behind a lock, replaced by a seeded one in tests.
package final class RandomSource: Sendable {
    private let generator: Locked<any RandomNumberGenerator & Sendable>

    /// The system's chance, shared.
    package static let system = RandomSource()

    package init(
        _ generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.generator = Locked(generator)
    }

    /// Lends the generator; `body` must not call out.
    package func withGenerator<Result: Sendable>(
        _ body: (inout any RandomNumberGenerator & Sendable) -> Result
    ) -> Result {
        generator.withLock { body(&$0) }
    }
}
