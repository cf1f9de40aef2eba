// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Testing

    extension SocketTests {
        /// Daemons that share one login.
        @Suite(.enabled(if: RedisServer.isInstalled), .timeLimit(.minutes(30)))
        struct RedisCredentialFleetTests {
            @Test func `eight daemons refresh once for each time their token expires`() async throws
            {
                let bed = try CredentialBed()
                let fleet = try await CredentialFleet(8, of: bed)
                #expect(await fleet.load(1) == [])
                #expect(fleet.provider.asked("refresh_token") == 0)
                for count in 1...5 {
                    fleet.expire()
                    #expect(await fleet.load(3) == [])
                    #expect(fleet.provider.asked("refresh_token") == count)
                }
                #expect(fleet.provider.violations == [])
            }
        }
    }
#endif
