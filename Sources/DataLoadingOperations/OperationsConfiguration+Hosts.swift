// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

extension OperationsConfiguration {
    /// The hosts that have labels of their own, of a service's configuration.
    func hosts(of service: DataLoaderService.Configuration) -> HostTable {
        switch labelledHosts {
        case .none: HostTable([])
        case .only(let hosts): HostTable(hosts)
        case .configured:
            HostTable(
                service.rateLimiter.ruleStates.map(\.origin).sorted()
                    + service.resolver.addressStates.map(\.host))
        }
    }
}
