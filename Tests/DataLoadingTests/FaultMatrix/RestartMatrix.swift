// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// A server that is killed during 200 loads, is away and comes back.
        @Suite struct RestartMatrix {
            @Test(.timeLimit(.minutes(15)), arguments: RestartScene.all)
            func `a server restart fails no GET, repeats no POST and costs few extra attempts`(
                scene: RestartScene
            ) async throws {
                let seen = try await scene.play()
                // Printed, because the bounds are wide and the figures tell how wide.
                print("restart: \(scene) \(seen)")
                #expect(seen.ends == RestartScene.loads)
                #expect(seen.GETs == RestartScene.loads / 2)
                #expect(seen.successfulGETs * 100 >= seen.GETs * 99)
                #expect(seen.attempts <= RestartScene.loads + 35)
                #expect(seen.mostOfOnePOST <= 1)
                #expect(seen.late == 0)
            }
        }
    }
#endif
