// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingFleet
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Locks and credentials in a real server that has a replica.
        @Suite(.enabled(if: RedisServer.isInstalled), .timeLimit(.minutes(30)))
        struct RedisCredentialReplicaTests {
            private static func waits(of client: RedisClient) async throws -> String? {
                let text = try await client.run(RedisCommand("INFO", "commandstats")).text ?? ""
                let line = text.split(whereSeparator: \.isNewline).first {
                    $0.hasPrefix("cmdstat_wait:")
                }
                return line.map { $0.split(separator: ",")[0].description }
            }

            @Test func `a lock and new credentials wait for a replica, even one that is silent`()
                async throws
            {
                let redis = try RedisServer.withPort()
                let replica = try RedisServer(["--replicaof", "127.0.0.1", "\(redis.port)"])
                let bed = CredentialBed(redis)
                try await bed.until("ROLE") { $0.elements?.last?.elements?.isEmpty == false }
                let store = bed.makeStore()
                try await store.update { _ in
                    let waits = try await Self.waits(of: bed.client)
                    #expect(waits == "cmdstat_wait:calls=1")
                    return CredentialBed.credentials()
                }
                #expect(try await Self.waits(of: bed.client) == "cmdstat_wait:calls=2")
                replica.signal(SIGSTOP)
                try await store.save(CredentialBed.credentials("b"))
                #expect(try await store.load() == CredentialBed.credentials("b"))
                #expect(try await Self.waits(of: bed.client) == "cmdstat_wait:calls=4")
                replica.signal(SIGCONT)
            }

            @Test func `nobody waits for a replica where there is none`() async throws {
                let bed = try CredentialBed()
                try await bed.makeStore().save(CredentialBed.credentials())
                #expect(try await Self.waits(of: bed.client) == nil)
            }
        }
    }
#endif
