// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A load's question, as the library's own authorisers see it.
protocol AuthorisationQuestion: AuthoriserDelegate {
    /// False from when the load has ended, or was answered.
    ///
    /// A load that ends while it is being asked about finds nobody to tell: who keeps the question
    /// looks here afterwards.
    var isOpen: Bool { get }

    /// Runs what asks another authoriser, where authorisers are asked; drops it when the load has ended.
    func ask(further body: @escaping @Sendable () -> Void)

    /// Cancels the task that answers when the load ends.
    func hold(_ task: Task<Void, Never>)
}

extension AuthoriserDelegate {
    /// Whether nobody waits for an answer any more, as far as can be known.
    var isAbandoned: Bool {
        (self as? any AuthorisationQuestion)?.isOpen == false
    }
}
