// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Exchange {
    /// What the answer to a range means; nil when it is to be judged like any other.
    func resumed(
        _ head: ResponseHead, _ progress: LoadProgress, _ target: RequestTarget
    ) -> Attempt.Verdict? {
        guard let broken = progress.resumption.broken else { return nil }
        switch broken.meaning(of: head, at: progress.received) {
        case .rest(let range): return .append(range)
        case .whole: return progress.hasDelivered ? .discard(then: .finish(broken.error)) : nil
        case .useless: return .discard(then: startOver(broken, progress, target))
        case .other: return nil
        }
    }

    /// What comes after a range that the server did not serve: the whole again, where it can be.
    private func startOver(
        _ broken: BrokenResponse, _ progress: LoadProgress, _ target: RequestTarget
    ) -> Step {
        guard !progress.hasDelivered else { return .finish(broken.error) }
        state.withLock { state in
            state.progress.resumption = .none
            state.progress.mayResume = false
        }
        return pause(after: .failure(broken.error, .headReceived), progress, target)
            ?? .finish(broken.error)
    }

    /// Once bytes were handed over, an answer that is not the rest of them cannot be delivered.
    func restricted(_ verdict: Attempt.Verdict, _ progress: LoadProgress) -> Attempt.Verdict {
        guard progress.hasDelivered, let broken = progress.resumption.broken else { return verdict }
        switch verdict {
        case .deliver, .hold, .discard(then: .follow): return .discard(then: .finish(broken.error))
        case .undecided, .append, .discard: return verdict
        }
    }

    /// Keeps what another attempt needs to go on from a response that broke.
    func noteBroken(_ attempt: Attempt, _ failure: TransportFailure) {
        state.withLock { $0.progress.noteBroken(attempt, failure.error) }
    }
}

extension LoadProgress {
    fileprivate mutating func noteBroken(_ attempt: Attempt, _ error: DataLoaderError) {
        switch attempt.verdict {
        case .deliver:
            guard mayResume, received > 0 || hasDelivered, attempt.handsOn || !streams,
                let head = attempt.head,
                var broken = BrokenResponse(head, to: base, error: error)
            else { return resumption = .none }
            broken.partial = attempt.body
            resumption = .from(broken)
        case .append:
            guard case .from(var broken) = resumption else { return }
            broken.partial = attempt.body
            resumption = .from(broken)
        case .undecided, .discard, .hold:
            break
        }
    }

    /// The head that was handed over already, and stays the load's.
    var deliveredHead: ResponseHead? {
        hasDelivered ? resumption.broken?.head : nil
    }

    /// Whether nothing may follow what is there: it was handed over, and is not to be continued.
    var isFinal: Bool { hasDelivered && resumption.broken == nil }
}
