// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingTransport
package import Foundation

/// What the cache has for a request, and what is to be done with it.
package struct Recall: Sendable {
    package let key: CacheKey
    package let request: CacheRequest
    package let decision: CacheDecision
    /// The stored response that the request chooses.
    package let stored: StoredAnswer?
    /// When the request looked here.
    let stamp: Removals.Stamp

    /// The conditions that are added to the request.
    package var conditions: HTTPHeaders {
        if case .validate(let fields, _) = decision { fields } else { HTTPHeaders() }
    }

    /// The stored response that may be used when the origin cannot answer.
    package var forErrors: StoredAnswer? {
        switch decision {
        case .validate(_, let mayUseOnError), .forward(_, let mayUseOnError):
            mayUseOnError ? stored : nil
        case .reuse, .notModified, .unavailable: nil
        }
    }

    /// Whether the origin was asked about the stored response.
    package var isValidation: Bool {
        if case .validate = decision { true } else { false }
    }

    /// Whether the answer to a HEAD may change what is stored.
    package func mayBeTold(of head: ResponseHead) -> Bool {
        let directives = CacheDirectives(head.headers.values(for: "Cache-Control"))
        return stored != nil && request.policy != .bypass && !request.directives.noStore
            && !directives.noStore
    }

    /// The same without conditions, after a 304 about another response.
    package var withoutConditions: Recall {
        Recall(
            key: key, request: request,
            decision: .forward(.stale, mayUseOnError: forErrors != nil), stored: stored,
            stamp: stamp)
    }
}

/// A stored response with its body.
package struct StoredAnswer: Sendable {
    package let response: StoredResponse
    package let body: Data

    package init(response: StoredResponse, body: Data) {
        self.response = response
        self.body = body
    }
}
