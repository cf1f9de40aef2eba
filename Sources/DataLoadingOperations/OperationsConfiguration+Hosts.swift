// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

extension OperationsConfiguration.LabelledHosts {
    /// The hosts that have labels of their own, of rates and addresses as they are now.
    func hosts(of limiter: RateLimiter, _ resolver: HostResolver) -> [String] {
        switch self {
        case .none: []
        case .only(let hosts): hosts
        case .configured: limiter.ratedOrigins + resolver.addressStates.map(\.host)
        }
    }
}

extension MetricRegistry {
    /// Names the hosts that have got a rate or addresses since.
    func addHosts(of service: DataLoaderService, _ labelled: OperationsConfiguration.LabelledHosts)
    {
        // The others never change, and a table that is full takes none.
        guard labelled == .configured, !hosts.isFull else { return }
        hosts.add(labelled.hosts(of: service.rateLimiter, service.resolver))
    }

    /// Names hosts whenever all metrics are read: a program may change its rates and addresses at any
    /// time, and not only while it reloads.
    func nameHosts(of service: DataLoaderService, _ labelled: OperationsConfiguration.LabelledHosts)
    {
        add { [weak self, weak service] _ in
            if let self, let service { addHosts(of: service, labelled) }
        }
    }
}
