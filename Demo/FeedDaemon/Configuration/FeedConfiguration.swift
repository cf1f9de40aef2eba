// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// What the daemon loads, from where, and how politely.
///
/// The embedded origin makes one, a file makes another; the daemon knows no difference.
struct FeedConfiguration: Sendable {
    /// One part of the program that loads something now and then.
    struct Feature: Sendable {
        var name: String
        var urls: [URL]
        /// How often the URLs are asked for.
        var interval: Duration
        /// Whether bodies are taken piece by piece as they arrive.
        var isStreamed = false
        /// Whether its loads go through the factory that has an authoriser.
        var isAuthorised = false
    }

    /// A rate that holds for a URL's origin, or for the part of it below the first path component.
    struct Rate: Sendable {
        var url: URL
        var requestsPerSecond: Double
    }

    /// How the authorised factory comes by its token.
    enum Credential: Sendable {
        case none
        /// The token is known, and may be shown to these hosts.
        case token(String, hosts: Set<String>)
        /// Somebody logs in, and the token is renewed when the origin refuses it.
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
}

extension DataLoaderService.Configuration {
    /// Makes what the daemon's one service is made with.
    init(_ configuration: FeedConfiguration) {
        self.init()
        userAgent = "FeedDaemon"
        timeouts = configuration.timeouts
        retry.maximumRetryCount = configuration.retries
        rateLimiter = RateLimiter(defaultRequestsPerSecond: configuration.defaultRate)
        for rate in configuration.rates {
            rateLimiter.setRequestsPerSecond(rate.requestsPerSecond, for: rate.url)
        }
        resolver = HostResolver(
            firstEjection: configuration.ejection.first,
            longestEjection: configuration.ejection.longest)
        for (host, addresses) in configuration.addresses {
            resolver.setAddresses(addresses, forHost: host)
        }
    }
}
