// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// What a service does with an origin: scheme, host and port.
public struct OriginState: Hashable, Sendable {
    /// The origin, for example "https://api.example.com" or "http://127.0.0.1:8080".
    public let origin: String
    /// The number of loads that wait for its rate or for a connection slot.
    public let waiting: Int
    /// The number of its attempts that hold a connection slot.
    public let running: Int
    /// How many of its attempts may run at once.
    public let limit: Int
    /// The tokens of its retry budget; nil where retries are not limited.
    public let retryBudget: Int?
    /// Whether the last attempt that needed a connection got none, less than 10 minutes ago.
    public let isFailing: Bool
}
