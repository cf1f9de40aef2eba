// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
import DataLoading
import Foundation

/// What the daemon loads, from which hosts, and at which rates.
///
/// The embedded origin makes one, and a file is decoded to one.
struct FeedConfiguration: Sendable {
    /// One part of the program that loads URLs at an interval.
    struct Feature: Hashable, Sendable {
        /// How bodies are received.
        enum Body: Hashable, Sendable {
            /// In memory.
            case value
            /// In pieces, on arrival.
            case chunks
            /// In a file, which is replaced by each load.
            case file(URL)
        }

        var name: String
        var urls: [URL]
        var interval: Duration
        var body = Body.value
        /// Whether its loads go through the factory that has an authoriser.
        var isAuthorised = false
    }

    /// A rate that holds for a URL's origin, or for the part of it below the first path component.
    struct Rate: Sendable {
        var url: URL
        var requestsPerSecond: Double

        /// Whether it holds for a part of the origin only.
        var isForPath: Bool { url.path().count > 1 }
    }

    /// How the authorised factory gets its token.
    enum Credential: Sendable {
        case none
        /// The token is known, and may be sent to these hosts.
        case token(String, hosts: Set<String>)
        /// The user logs in, and the token is renewed when the origin refuses it.
        case login(OAuthConfiguration)
    }

    var features: [Feature] = []
    var defaultRate: Double?
    var rates: [Rate] = []
    /// The addresses of each host, the preferred one first.
    var addresses: [String: [String]] = [:]
    /// How long an address that failed is left out at first, and at most.
    var ejection: (first: Duration, longest: Duration) = (.seconds(30), .seconds(300))
    var credential = Credential.none
    var timeouts = Timeouts()
    var retries = 3

    /// The requests per second that each feature may send, where one limit holds for all of its URLs.
    var limits: [String: Double] {
        let limiter = DataLoaderService.Configuration(self).rateLimiter
        let limits = features.map { feature in
            let rates = Set(feature.urls.map { limiter.requestsPerSecond(for: $0) })
            let hosts = Set(feature.urls.map { $0.host() })
            return (feature.name, rates.count == 1 && hosts.count == 1 ? rates.first ?? nil : nil)
        }
        return Dictionary(limits) { first, _ in first }.compactMapValues { $0 }
    }
}

extension DataLoaderService.Configuration {
    /// Makes the configuration of the process's service.
    init(_ configuration: FeedConfiguration) {
        self.init()
        userAgent = "FeedDaemon"
        timeouts = configuration.timeouts
        retry.maximumRetryCount = configuration.retries
        rateLimiter = RateLimiter(defaultRequestsPerSecond: configuration.defaultRate)
        for rate in configuration.rates {
            if rate.isForPath {
                rateLimiter.setRequestsPerSecond(rate.requestsPerSecond, forPathOf: rate.url)
            } else {
                rateLimiter.setRequestsPerSecond(rate.requestsPerSecond, forHostOf: rate.url)
            }
        }
        resolver = HostResolver(
            firstEjection: configuration.ejection.first,
            maxEjection: configuration.ejection.longest)
        for (host, addresses) in configuration.addresses {
            resolver.setAddresses(addresses, forHost: host)
        }
    }
}
