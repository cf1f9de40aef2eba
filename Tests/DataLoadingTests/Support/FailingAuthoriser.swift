// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading

/// An authoriser that has no credential for one reason after another; nil for a time when it has.
final class FailingAuthoriser: Authoriser {
    let identifier = "failing"
    private let reasons: Locked<[(any Error)?]>
    private let answersLater: Bool

    init(_ reasons: [(any Error)?], answersLater: Bool = false) {
        self.reasons = Locked(reasons)
        self.answersLater = answersLater
    }

    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        let reason = reasons.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        var authorised = request
        authorised.headers["Authorization"] = "Bearer late"
        guard answersLater else { return reason.map { .refuse($0) } ?? .use(authorised) }
        return .later { [authorised] in
            if let reason { throw reason }
            return authorised
        }
    }
}
