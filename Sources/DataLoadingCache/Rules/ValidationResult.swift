// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingTransport

/// What the answer of the origin means for the stored response about which it was asked.
package enum ValidationResult: Sendable {
    /// The stored response is right; with its new fields and times.
    case confirmed(StoredResponse)
    /// The 304 speaks of a response that is not stored: the request is to be sent without
    /// conditions.
    case mismatch
    /// The origin cannot answer, and the stored response may be used in its place.
    case useStored
    /// The answer takes the place of the stored response.
    case replaced

    /// - Parameter request: The fields of the request as the caller wrote them.
    /// - Parameter mayUseOnError: As the decision to ask said.
    package init(
        _ answer: ResponseHead, to request: HTTPHeaders, about stored: StoredResponse,
        times: ResponseTimes, hasQuery: Bool, mayUseOnError: Bool,
        _ heuristic: HeuristicFreshness = HeuristicFreshness()
    ) {
        switch answer.status {
        case .notModified:
            let confirmed = stored.confirmed(
                by: answer, to: request, times: times, hasQuery: hasQuery, heuristic)
            self = confirmed.map(Self.confirmed) ?? .mismatch
        // The statuses of RFC 5861 section 4.
        case .internalServerError, .badGateway, .serviceUnavailable, .gatewayTimeout:
            self = mayUseOnError ? .useStored : .replaced
        default:
            self = .replaced
        }
    }
}
