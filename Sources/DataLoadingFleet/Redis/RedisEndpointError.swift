// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Why a text is not the address of a Redis server.
@nonexhaustive public enum RedisEndpointError: Error, Hashable, Sendable {
    /// The text does not begin with redis://, rediss:// or unix://.
    case scheme
    /// There is no host, or one with a byte that is not allowed.
    case host
    /// The port is not 1 to 65535.
    case port
    /// There is a user or a password, which would appear in logs: they belong to the configuration.
    case userInformation
    /// There is a database number, a path or a query; the database is always 0.
    case path
    /// The path of the socket is not absolute, is longer than 107 bytes, or has a query.
    case socketPath
}

extension RedisEndpointError: CustomStringConvertible {
    /// The reason, without the text that was refused.
    public var description: String {
        switch self {
        case .scheme: "the URL does not begin with redis://, rediss:// or unix://"
        case .host: "the URL has no host, or a host with a byte that is not allowed"
        case .port: "the port is not 1 to 65535"
        case .userInformation: "the URL has user information"
        case .path: "the URL has a path or a query"
        case .socketPath: "the path of the socket is relative, too long, or has a query"
        }
    }
}
