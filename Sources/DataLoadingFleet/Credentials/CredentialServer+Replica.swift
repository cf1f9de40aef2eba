// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a failover shall not lose.
extension CredentialServer {
    /// Waits until a replica has what this connection has written, up to 50 ms; returns at once where the
    /// server has none.
    ///
    /// It makes a failover less likely to lose a lock or new credentials, and no more than that: the one
    /// that takes over may be another replica. The connection's other commands wait too, among them those
    /// for slots, for which loads wait 100 ms at least. An error says the same as no replica; the next
    /// command tells what is wrong.
    func waitForReplica() async {
        let role = try? await client.run(RedisCommand("ROLE"))
        guard let parts = role?.elements, parts.count >= 3,
            let replicas = parts[2].elements, !replicas.isEmpty
        else { return }
        _ = try? await client.run(RedisCommand("WAIT", "1", "50"))
    }
}
