// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The owner of a stage in which authorisers are asked.
protocol AsksAuthorisers: AnyObject, Sendable {
    /// Whether they are asked in an epoch.
    func isAuthorising(_ epoch: Int) -> Bool
}

/// Marks the loads that are performed inside an authoriser, by the task or thread that performs
/// them.
///
/// Other loads wait for the result of these loads, a token for example. They may start while the
/// service shuts down. They do not wait for connections that other loads hold.
/// `DataLoaderService.cancelAllLoads` does not cancel them.
package struct AuthorisersWork: Sendable {
    private enum End: Sendable {
        /// The end of a stage of a load.
        case ofStage(any AsksAuthorisers, epoch: Int)
        /// The end that is marked.
        case marked(Locked<Bool>)
    }

    private let end: End

    private init(_ end: End) {
        self.end = end
    }

    /// The work of an authoriser that is asked for a load, in an epoch of the load.
    static func asking(_ owner: any AsksAuthorisers, epoch: Int) -> AuthorisersWork {
        AuthorisersWork(.ofStage(owner, epoch: epoch))
    }

    @TaskLocal private static var current: AuthorisersWork?

    /// Whether the calling code runs inside an authoriser.
    static var isCurrent: Bool { current?.isOpen ?? false }

    /// Whether the work is unfinished: loads of a task that outlives the work are like any others.
    var isOpen: Bool {
        switch end {
        case .ofStage(let owner, let epoch): owner.isAuthorising(epoch)
        case .marked(let isOver): !isOver.withLock { $0 }
        }
    }

    /// Marks the loads that `body` performs until it returns.
    package static func perform<Result>(_ body: () async throws -> Result) async rethrows -> Result
    {
        let isOver = Locked(false)
        defer { isOver.withLock { $0 = true } }
        return try await AuthorisersWork(.marked(isOver)).perform(body)
    }

    /// Marks the loads that `body`, and the tasks that it begins, perform while the work is open.
    func perform<Result>(_ body: () -> Result) -> Result {
        Self.$current.withValue(self) { body() }
    }

    /// Marks the loads that `body`, and the tasks that it begins, perform while the work is open.
    func perform<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await Self.$current.withValue(self) { try await body() }
    }
}
