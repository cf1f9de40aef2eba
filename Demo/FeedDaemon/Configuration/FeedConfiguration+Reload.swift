// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingAuth

extension FeedConfiguration {
    /// Puts rates, addresses and the token in place of those that a service has.
    ///
    /// Everything is checked first, so that an error leaves the service as it is.
    func apply(to service: DataLoaderService, _ authoriser: StaticTokenAuthoriser?) throws {
        try DataLoaderService.Configuration(self).validate()
        try HostResolver().replaceAddresses(addresses)
        let settings = rates.map { rate -> RateLimiter.Setting in
            let limit = rate.requestsPerSecond
            return rate.isForPath
                ? .path(of: rate.url, requestsPerSecond: limit)
                : .host(of: rate.url, requestsPerSecond: limit)
        }
        try service.rateLimiter.replaceRates(settings, defaultRequestsPerSecond: defaultRate)
        try service.resolver.replaceAddresses(addresses)
        if case .token(let token, _) = credential { authoriser?.replaceToken(token) }
    }

    /// The keys of a newer file whose changes have an effect at the next start only.
    func keysForNextStart(in new: FeedConfiguration) -> [String] {
        let changes: [(key: String, isChanged: Bool)] = [
            ("features", features != new.features), ("timeouts", timeouts != new.timeouts),
            ("retries", retries != new.retries),
            ("token.hosts", credential.hosts != new.credential.hosts),
        ]
        return changes.filter(\.isChanged).map(\.key)
    }
}

extension FeedConfiguration.Credential {
    fileprivate var hosts: Set<String> {
        if case .token(_, let hosts) = self { hosts } else { [] }
    }
}
