// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Marks the loads that are performed inside an authoriser, by the task or thread that performs
/// them.
///
/// Other loads wait for the result of these loads, a token for example. They may start while the
/// service shuts down. They do not wait for connections that other loads hold.
/// `DataLoaderService.cancelAllLoads` does not cancel them.
package struct AuthorisersWork: Sendable {
    @TaskLocal private static var current: AuthorisersWork?

    /// Whether the work is unfinished: loads of a task that outlives the work are like any others.
    private let isOpen: @Sendable () -> Bool

    /// Whether the calling code runs inside an authoriser.
    static var isCurrent: Bool { current?.isOpen() ?? false }

    /// Marks the loads that `body` performs until it returns.
    package static func perform<Result>(_ body: () async throws -> Result) async rethrows -> Result
    {
        let isOver = Locked(false)
        defer { isOver.withLock { $0 = true } }
        let work = AuthorisersWork { !isOver.withLock { $0 } }
        return try await $current.withValue(work) { try await body() }
    }

    /// Marks the loads that `body`, and the tasks that it begins, perform while `isOpen` returns
    /// true.
    static func perform<Result>(
        while isOpen: @escaping @Sendable () -> Bool, _ body: () -> Result
    ) -> Result {
        $current.withValue(AuthorisersWork(isOpen: isOpen)) { body() }
    }

    /// Marks the loads that `body`, and the tasks that it begins, perform while `isOpen` returns
    /// true.
    static func perform<Result>(
        while isOpen: @escaping @Sendable () -> Bool, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await $current.withValue(AuthorisersWork(isOpen: isOpen)) { try await body() }
    }
}
