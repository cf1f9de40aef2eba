// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Direct delivery on the thread of libcurl's loop.
        @Suite struct DirectSocketTests {
            @Test func `a thousand loads in turn are delivered on the loop's thread`() async throws
            {
                let server = try LoopbackServer { _ in .ok("body") }
                defer { server.stop() }
                let service = DataLoaderService()
                let request = DataLoaderRequest(url: server.url())
                let names = EventRecorder<String>()
                let delegate = WorkingDelegate { loader in
                    names.record(WorkingDelegate.threadName)
                    if names.elements.count <= 992 { loader.perform(request) }
                }
                let loader = service.makeFactory().makeDataLoader(
                    delegate: delegate, delivery: .direct)
                for _ in 0..<8 { loader.perform(request) }
                let outcomes = await delegate.outcomes.first(1_000)
                #expect(outcomes.allSatisfy { $0 == nil })
                #expect(Set(names.elements) == ["DataLoading"])
                #expect(server.requestCount == 1_000)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `a delegate that blocks holds up sockets, but no deadline`() async throws {
                let server = try LoopbackServer { _ in .ok("body") }
                defer { server.stop() }
                let service = DataLoaderService()
                let mayGoOn = DispatchSemaphore(value: 0)
                let isBlocked = EventRecorder<Void>()
                let delegate = WorkingDelegate { _ in
                    isBlocked.record(())
                    mayGoOn.wait()
                }
                let direct = service.makeFactory().makeDataLoader(
                    delegate: delegate, delivery: .direct)
                let other = service.makeFactory().makeDataLoader()
                direct.perform(DataLoaderRequest(url: server.url()))
                _ = await isBlocked.first(1)
                // Nothing of it is sent: the loop is busy.
                var late = DataLoaderRequest(url: server.url())
                late.timeout = .milliseconds(200)
                var error: DataLoaderError?
                do {
                    _ = try await other.response(for: late)
                } catch let failure as DataLoaderError {
                    error = failure
                }
                #expect(error?.name == "timed_out")
                #expect(delegate.outcomes.elements.isEmpty)
                mayGoOn.signal()
                #expect(await delegate.outcomes.first(1) == [nil])
                // The loop continues as before.
                let body = try await other.response(for: DataLoaderRequest(url: server.url())).body
                #expect(body == Data("body".utf8))
                await service.shutDown(gracePeriod: .zero)
            }

            @Test(.disabled(if: isLeakChecked, "what was under way at exit counts as a leak"))
            func `a process may exit inside a call`() async {
                await #expect(processExitsWith: .exitCode(9)) {
                    let server = try LoopbackServer { _ in .ok("body") }
                    let delegate = WorkingDelegate { _ in exit(9) }
                    let loader = DataLoaderService().makeFactory().makeDataLoader(
                        delegate: delegate, delivery: .direct)
                    loader.perform(DataLoaderRequest(url: server.url()))
                    _ = await delegate.outcomes.first(1)
                    withExtendedLifetime((server, loader)) {}
                }
            }
        }
    }
#endif
