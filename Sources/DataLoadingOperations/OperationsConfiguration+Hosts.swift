// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

extension OperationsConfiguration {
    /// The hosts that have labels of their own, of a service's rates and addresses as they are now.
    func hosts(of limiter: RateLimiter, _ resolver: HostResolver) -> [String] {
        switch labelledHosts {
        case .none: []
        case .only(let hosts): hosts
        case .configured: limiter.ratedOrigins + resolver.addressStates.map(\.host)
        }
    }
}
