// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import DataLoadingTransport

extension RedisFleet {
    /// The server of a fleet, and how it is reached.
    public struct Configuration: Sendable, OpaquelyMirrored {
        /// The servers in their order; the first that says it is the master is used.
        public var endpoints: [RedisEndpoint]
        /// The name of what is shared: daemons with the same one share, staging and production must
        /// not.
        public var namespace: String
        /// The user of the server's access list; nil, the default, for its default user.
        public var user: String?
        /// Returns the password, before each connection and on a thread of the fleet's own; nil, the
        /// default, for none.
        ///
        /// `ServiceCredentials` and files are read here, so that a password can be replaced.
        public var password: (@Sendable () throws -> String)?
        /// What a server with TLS must show, and the certificate that it asks for; nil, the default,
        /// for the system's authorities.
        public var trust: ServerTrustPolicy?
        /// How far ahead the slots of a lease reach at most; default 100 ms.
        ///
        /// Less than 10 ms counts as 10 ms, and more than 1 s as 1 s.
        /// A longer one asks the server less often, and is later to learn that a key was closed.
        public var window = Duration.milliseconds(100)
        /// How long the server may take for an answer, a millisecond at least; default 250 ms.
        ///
        /// Loads wait no longer for their slots whatever this says: after 250 ms each daemon uses its
        /// share.
        public var patience = Duration.milliseconds(250)

        /// Makes a configuration with the defaults above.
        public init(endpoints: [RedisEndpoint], namespace: String) {
            self.endpoints = endpoints
            self.namespace = namespace
        }

        var redis: RedisConfiguration {
            var redis = RedisConfiguration(endpoints: endpoints)
            redis.user = user
            redis.password = password
            redis.trust = trust
            redis.patience = max(.milliseconds(1), patience)
            return redis
        }
    }
}

extension RedisFleet.Configuration: CustomStringConvertible {
    /// The servers and the namespace, without the user and the password.
    public var description: String { "\(redis) for \(namespace.debugDescription)" }
}
