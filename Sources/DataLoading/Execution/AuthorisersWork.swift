// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Marks the loads that are performed inside an authoriser, by the task or thread that performs them.
///
/// Other loads wait for what these bring, a token for example. They get through while the service shuts
/// down, wait for no connection that other loads hold, and `cancelAllLoads` leaves them alone.
struct AuthorisersWork: Sendable {
    @TaskLocal private static var current: AuthorisersWork?

    /// Whether the work goes on: a task that outlives it performs loads like any others.
    private let isOpen: @Sendable () -> Bool

    /// Whether the calling code runs inside an authoriser.
    static var isCurrent: Bool { current?.isOpen() ?? false }

    /// Marks what `body` performs until it returns.
    static func perform<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        let isOver = Locked(false)
        defer { isOver.withLock { $0 = true } }
        let work = AuthorisersWork { !isOver.withLock { $0 } }
        return try await $current.withValue(work) { try await body() }
    }

    /// Marks what `body` performs, and what tasks perform that begin in it, as long as `isOpen` says.
    static func perform(while isOpen: @escaping @Sendable () -> Bool, _ body: () -> Void) {
        $current.withValue(AuthorisersWork(isOpen: isOpen)) { body() }
    }
}
