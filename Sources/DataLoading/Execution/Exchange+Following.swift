// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension Exchange {
    /// Goes where a redirect leads: authorised anew, admitted anew.
    func follow(_ redirect: Redirection.Next) -> Step? {
        noteRedirect(to: redirect.target.origin)
        state.withLock { state in
            var request = redirect.request
            // A body that had to be made again is with the request that was redirected.
            if request.body != nil { request.body = state.progress.base.body }
            if let target = state.progress.baseTarget {
                state.progress.visits.append(
                    Redirection.Visit(method: state.progress.base.method, target: target))
            }
            state.progress.base = request
            state.progress.baseTarget = redirect.target
            state.progress.metrics.redirects += 1
            state.progress.needsFreshConnection = false
            // What broke elsewhere is another resource, whatever its validator says.
            state.progress.resumption = .none
        }
        return .authorise(from: 0)
    }

    /// Asks the owner for another body stream, and ends the load when there is none.
    func renewBody(then next: Step, otherwise error: DataLoaderError?) -> Step? {
        guard let turn = state.withLock({ $0.enter(.asking) }) else { return nil }
        recipient.askForBodyStream(self) { [self] stream in
            let isCurrent = state.withLock { state in
                guard state.update(.starting, turn: turn) else { return false }
                if let stream { state.progress.replaceBody(by: stream) }
                return true
            }
            guard isCurrent else { return }
            proceed(stream == nil ? .finish(error) : next)
        }
        return nil
    }
}

extension LoadProgress {
    /// Puts another stream in the place of one that was read.
    fileprivate mutating func replaceBody(by stream: OneShotStream) {
        guard case .oneShot(_, let length) = base.body else { return }
        base.body = .oneShot(stream, length: length)
        outgoing.body = base.body
    }
}
