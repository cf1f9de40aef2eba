// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingAuth
    import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// A load that is cancelled at each of twelve points in each of three ways.
        @Suite struct CancellationMatrix {
            @Test(.timeLimit(.minutes(15)), arguments: CancelCase.all)
            func `a cancelled load ends once, as cancelled, and closes its socket within 100 ms`(
                test: CancelCase
            ) async throws {
                let usual = try await usually(rounds: 3) {
                    let scene = try await CancelScene(test)
                    let begun = ContinuousClock.now
                    scene.end()
                    let entry = await scene.ending()
                    if test.point.hasConnection {
                        _ = await scene.server.waitForClosedConnections(1)
                    }
                    let time = ContinuousClock.now - begun
                    #expect(entry?.response.error == .cancelled)
                    await scene.close()
                    check(scene, test)
                    return time
                }
                #expect(usual.keeps(.milliseconds(100)), "\(usual)")
            }

            private func check(_ scene: CancelScene, _ test: CancelCase) {
                let terminals = scene.delegate.events.filter(\.isTerminal)
                // A loader that was released calls no delegate.
                #expect(terminals.count == (test.ender == .loaderDeinit ? 0 : 1))
                for terminal in terminals {
                    guard case .cancelled = terminal else {
                        Issue.record("it ended with \(terminal)")
                        continue
                    }
                }
                if let last = scene.delegate.events.last, !terminals.isEmpty {
                    #expect(last.isTerminal)
                }
                #expect(scene.requests == test.point.requests)
                let ended = scene.observer.entries.filter {
                    $0.response.request.url.path == "/load"
                }
                #expect(ended.count == 1)
            }
        }
    }
#endif
