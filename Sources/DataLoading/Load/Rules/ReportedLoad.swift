// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingTransport

/// Which load consumption observers are told of when a load that makes attempts has ended.
///
/// A load sets it for itself, where it is another one, and not in the request that it was given.
package enum ReportedLoad: RequestOption {
    package enum Value: Hashable, Sendable {
        /// The load that makes the attempts.
        case itself
        /// The intercepted load that it is inside of.
        case other(Int64)
        /// Any of several loads that share the request.
        case unknown
    }

    package static let defaultValue = Value.itself
    package static let staysWithOrigin = false
}

extension TransportRequest {
    /// The number of the load that observers are told of; nil without one, or where it is not known.
    package var reportedLoad: Int64? {
        switch self[option: ReportedLoad.self] {
        case .itself: context.load == 0 ? nil : context.load
        case .other(let number): number
        case .unknown: nil
        }
    }
}
