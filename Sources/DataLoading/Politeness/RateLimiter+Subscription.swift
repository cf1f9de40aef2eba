// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension RateLimiter {
    /// Keeps a change handler subscribed until the subscription is released.
    final class Subscription: Sendable {
        private let end: @Sendable () -> Void

        init(end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit {
            end()
        }
    }
}
