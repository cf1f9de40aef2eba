// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingTransport

/// Which stored responses a request makes unusable (RFC 9111 section 4.4).
package enum Invalidation {
    /// The URLs whose stored responses are to be removed after a response.
    ///
    /// `resolve` resolves the reference in a field against the URL of the request; nil when it is
    /// none.
    package static func urls(
        after response: ResponseHead, to method: HTTPMethod, _ target: RequestTarget,
        resolve: (String) -> RequestTarget?
    ) -> [RequestTarget] {
        guard !method.isSafe, (200..<400).contains(response.status.rawValue) else { return [] }
        let named = ["Location", "Content-Location"].flatMap { response.headers.values(for: $0) }
        let others = named.compactMap(resolve).filter { $0.origin == target.origin && $0 != target }
        return [target] + others
    }
}

extension HTTPMethod {
    /// Whether the method asks for nothing but reading (RFC 9110 section 9.2.1); a method that is
    /// not known may change anything.
    var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace: true
        default: false
        }
    }
}
