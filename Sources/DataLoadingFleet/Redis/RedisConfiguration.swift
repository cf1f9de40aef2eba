// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// What a client needs to know of its servers.
struct RedisConfiguration: Sendable, OpaquelyMirrored {
    /// The servers in their order; the first that says it is the master is used.
    var endpoints: [RedisEndpoint]
    /// The user; nil means the server's default user.
    var user: String?
    /// Returns the password; nil means none.
    ///
    /// It is called before each connection, on the client's thread.
    var password: (@Sendable () throws -> String)?
    /// The name that the server lists the connection by.
    var name = "dataloading"
    /// What servers with TLS must show; nil means the system's authorities.
    var trust: ServerTrustPolicy?
    /// How long a command may take, with the wait for a connection; default 250 ms.
    var patience = Duration.milliseconds(250)
    /// How long a connection and its handshake may take; default 1 s.
    var connectLimit = Duration.seconds(1)
    /// How many commands may wait to be sent; default 256.
    var maxWaiting = 256

    init(endpoints: [RedisEndpoint]) {
        self.endpoints = endpoints
    }
}

extension RedisConfiguration: CustomStringConvertible {
    /// The endpoints, without the user and the password.
    var description: String {
        "Redis at " + endpoints.map(\.description).joined(separator: ", ")
    }
}
