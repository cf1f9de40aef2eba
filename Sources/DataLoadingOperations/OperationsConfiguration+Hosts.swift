// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

extension OperationsConfiguration {
    /// The hosts that have labels of their own, of a service's rates and addresses as they are now.
    func hosts(of service: DataLoaderService) -> [String] {
        hosts(of: service.rateLimiter, service.resolver)
    }

    /// The hosts that have labels of their own, of a service's rates and addresses as they are now.
    func hosts(of limiter: RateLimiter, _ resolver: HostResolver) -> [String] {
        switch labelledHosts {
        case .none: []
        case .only(let hosts): hosts
        case .configured: limiter.ratedOrigins + resolver.addressStates.map(\.host)
        }
    }
}

extension MetricRegistry {
    /// Names hosts that have got a rate or addresses, whenever all metrics are read.
    ///
    /// A program may change them at any time, and not only while it reloads.
    func nameHosts(of service: DataLoaderService, by configuration: OperationsConfiguration) {
        guard configuration.labelledHosts == .configured else { return }
        add { [weak service, hosts] _ in
            guard let service, !hosts.isFull else { return }
            hosts.add(service.configuredHosts)
        }
    }
}

extension DataLoaderService {
    /// The hosts that have rates or addresses now.
    fileprivate var configuredHosts: [String] {
        rateLimiter.ratedOrigins + resolver.addressStates.map(\.host)
    }
}
