// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    import DataLoadingCurl
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// The default delivery: on the thread of libcurl's loop, which another thread takes over
        /// when a delegate blocks.
        @Suite struct AutomaticSocketTests {
            private let server: LoopbackServer
            private let service = DataLoaderService()

            init() throws {
                server = try LoopbackServer { _ in .ok("body") }
            }

            private var request: DataLoaderRequest { DataLoaderRequest(url: server.url()) }

            private func makeLoader(_ delegate: any DataLoaderDelegate) -> DataLoader {
                service.makeFactory().makeDataLoader(delegate: delegate)
            }

            private static func loaderOfItsOwnService(
                _ delegate: any DataLoaderDelegate
            ) -> DataLoader {
                DataLoaderService().makeFactory().makeDataLoader(delegate: delegate)
            }

            private func end() async {
                await service.shutDown(gracePeriod: .zero)
                server.stop()
            }

            @Test func `short calls are made on the transport's thread`() async {
                let names = EventRecorder<String>()
                let delegate = WorkingDelegate { loader in
                    names.record(WorkingDelegate.threadName)
                    if names.elements.count <= 992 { loader.perform(request) }
                }
                let loader = makeLoader(delegate)
                for _ in 0..<8 { loader.perform(request) }
                let outcomes = await delegate.outcomes.first(1_000)
                #expect(outcomes.allSatisfy { $0 == nil })
                // On a busy machine reading the name may make later calls slow for a time.
                #expect(names.elements.first == "DataLoading")
                #expect(server.requestCount == 1_000)
                await end()
            }

            @Test func `twelve delegates that block at once do not hold up other loads`()
                async throws
            {
                let mayGoOn = DispatchSemaphore(value: 0)
                let isBlocked = EventRecorder<Void>()
                let delegates = (0..<12).map { _ in
                    WorkingDelegate { _ in
                        isBlocked.record(())
                        mayGoOn.wait()
                    }
                }
                let loaders = delegates.map { makeLoader($0) }
                for loader in loaders { loader.perform(request) }
                _ = await isBlocked.first(12)
                // All twelve block at once, and the transport continues.
                let other = service.makeFactory().makeDataLoader()
                for _ in 0..<20 {
                    #expect(try await other.response(for: request).body == Data("body".utf8))
                }
                #expect(delegates.allSatisfy { $0.outcomes.elements.isEmpty })
                for _ in delegates { mayGoOn.signal() }
                for delegate in delegates {
                    #expect(await delegate.outcomes.first(1) == [nil])
                }
                await end()
                withExtendedLifetime(loaders) {}
            }

            @Test func `of forty delegates that block sixteen keep a thread of the transport`()
                async
            {
                let mayGoOn = DispatchSemaphore(value: 0)
                let blocked = EventRecorder<String>()
                let delegates = (0..<40).map { _ in
                    WorkingDelegate { _ in
                        blocked.record(WorkingDelegate.threadName)
                        mayGoOn.wait()
                    }
                }
                let loaders = delegates.map { makeLoader($0) }
                for (count, loader) in loaders.enumerated() {
                    loader.perform(request)
                    _ = await blocked.first(count + 1)
                }
                #expect(blocked.elements.count { $0 == "DataLoading" } == 16)
                for _ in delegates { mayGoOn.signal() }
                for delegate in delegates {
                    #expect(await delegate.outcomes.first(1) == [nil])
                }
                // A thread that has returned makes place for the next one.
                let names = EventRecorder<String>()
                let delegate = WorkingDelegate { _ in names.record(WorkingDelegate.threadName) }
                let loader = makeLoader(delegate)
                while names.elements.last != "DataLoading", !Task.isCancelled {
                    let count = names.elements.count
                    loader.perform(request)
                    _ = await names.first(count + 1)
                }
                #expect(names.elements.last == "DataLoading")
                await end()
                withExtendedLifetime(loaders) {}
            }

            @Test func `each of several loops continues while a delegate blocks it`() async throws {
                var configuration = DataLoaderService.Configuration()
                configuration.transport = CurlTransport(loops: 2)
                let service = DataLoaderService(configuration: configuration)
                let mayGoOn = DispatchSemaphore(value: 0)
                let isBlocked = EventRecorder<Void>()
                let delegate = WorkingDelegate { _ in
                    isBlocked.record(())
                    mayGoOn.wait()
                }
                // Origins have loops in turn.
                let servers = try (0..<4).map { _ in try LoopbackServer { _ in .ok("body") } }
                let factory = service.makeFactory()
                let loaders = servers.map { server in
                    let loader = factory.makeDataLoader(delegate: delegate)
                    loader.perform(DataLoaderRequest(url: server.url()))
                    return loader
                }
                _ = await isBlocked.first(4)
                let other = factory.makeDataLoader()
                for server in servers {
                    let request = DataLoaderRequest(url: server.url())
                    #expect(try await other.response(for: request).body == Data("body".utf8))
                }
                for _ in servers { mayGoOn.signal() }
                #expect(await delegate.outcomes.first(4).allSatisfy { $0 == nil })
                await service.shutDown(gracePeriod: .zero)
                for server in servers { server.stop() }
                await end()
                withExtendedLifetime(loaders) {}
            }

            @Test func `a call that waits for another load of the transport gets it`() async {
                let delegate = WorkingDelegate { [service] _ in
                    let isDone = DispatchSemaphore(value: 0)
                    let other = service.makeFactory().makeDataLoader()
                    Task {
                        _ = try? await other.response(for: request)
                        isDone.signal()
                    }
                    isDone.wait()
                }
                let loader = makeLoader(delegate)
                for _ in 0..<5 { loader.perform(request) }
                #expect(await delegate.outcomes.first(5).allSatisfy { $0 == nil })
                await end()
            }

            @Test func `a loader's calls come one at a time, blocked or not`() async {
                let (inside, overlaps, calls) = (Locked(0), Locked(0), Locked(0))
                let delegate = WorkingDelegate { loader in
                    if inside.add(1) != 1 { _ = overlaps.add(1) }
                    let count = calls.add(1)
                    if count <= 192 { loader.perform(request) }
                    // Some block for longer than the other thread waits.
                    if count.isMultiple(of: 16) {
                        let never = DispatchSemaphore(value: 0)
                        _ = never.wait(timeout: .now() + .milliseconds(5))
                    }
                    _ = inside.add(-1)
                }
                let loader = makeLoader(delegate)
                for _ in 0..<8 { loader.perform(request) }
                #expect(await delegate.outcomes.first(200).allSatisfy { $0 == nil })
                #expect(overlaps.withLock { $0 } == 0)
                await end()
            }

            @Test func `a call may wait until the service is shut down`() async {
                let isShutDown = DispatchSemaphore(value: 0)
                let delegate = WorkingDelegate { [service] _ in
                    Task {
                        await service.shutDown(gracePeriod: .zero)
                        isShutDown.signal()
                    }
                    isShutDown.wait()
                }
                let loader = makeLoader(delegate)
                loader.perform(request)
                #expect(await delegate.outcomes.first(1) == [nil])
                server.stop()
                withExtendedLifetime(loader) {}
            }

            @Test func `a loader and its service may be dropped in a call`() async {
                let held = Locked<DataLoader?>(nil)
                let delegate = WorkingDelegate { _ in held.withLock { $0 = nil } }
                // The loader is the only one that holds its factory's service.
                held.withLock { $0 = Self.loaderOfItsOwnService(delegate) }
                held.withLock { $0 }?.perform(request)
                #expect(await delegate.outcomes.first(1) == [nil])
                await end()
            }

            @Test func `a loader and its service may be dropped while a call blocks`() async throws
            {
                let mayGoOn = DispatchSemaphore(value: 0)
                let isBlocked = EventRecorder<Void>()
                let delegate = WorkingDelegate { _ in
                    isBlocked.record(())
                    mayGoOn.wait()
                }
                weak var transport: CurlTransport?
                do {
                    let own = CurlTransport()
                    transport = own
                    var configuration = DataLoaderService.Configuration()
                    configuration.transport = own
                    let factory = DataLoaderService(configuration: configuration).makeFactory()
                    let loader = factory.makeDataLoader(delegate: delegate)
                    loader.perform(request)
                    _ = await isBlocked.first(1)
                    // Another thread runs the loop since then.
                    let other = factory.makeDataLoader()
                    _ = try await other.response(for: request)
                }
                mayGoOn.signal()
                #expect(await delegate.outcomes.first(1) == [nil])
                await eventually { transport == nil }
                await end()
            }

            @Test func `outcomes that wait for their call are delivered at the end`() async {
                let mayGoOn = DispatchSemaphore(value: 0)
                let delegate = WorkingDelegate { _ in mayGoOn.wait() }
                let loader = makeLoader(delegate)
                for _ in 0..<4 { loader.perform(request) }
                await eventually { server.requestCount == 4 }
                async let end = service.shutDown(gracePeriod: .zero)
                for _ in 0..<4 { mayGoOn.signal() }
                _ = await end
                #expect(await delegate.outcomes.first(4).count == 4)
                server.stop()
            }

            @Test(.disabled(if: isLeakChecked, "what was under way at exit counts as a leak"))
            func `a process may exit inside a call, and while one blocks`() async {
                await #expect(processExitsWith: .exitCode(9)) {
                    let server = try LoopbackServer { _ in .ok("body") }
                    let delegate = WorkingDelegate { _ in exit(9) }
                    let factory = DataLoaderService().makeFactory()
                    let loader = factory.makeDataLoader(delegate: delegate)
                    loader.perform(DataLoaderRequest(url: server.url()))
                    _ = await delegate.outcomes.first(1)
                    withExtendedLifetime((server, loader)) {}
                }
                await #expect(processExitsWith: .exitCode(8)) {
                    let server = try LoopbackServer { _ in .ok("body") }
                    let isBlocked = EventRecorder<Void>()
                    let delegate = WorkingDelegate { _ in
                        isBlocked.record(())
                        DispatchSemaphore(value: 0).wait()
                    }
                    let service = DataLoaderService()
                    let loader = service.makeFactory().makeDataLoader(delegate: delegate)
                    loader.perform(DataLoaderRequest(url: server.url()))
                    _ = await isBlocked.first(1)
                    let other = service.makeFactory().makeDataLoader()
                    _ = try await other.response(for: DataLoaderRequest(url: server.url()))
                    exit(8)
                }
            }
        }
    }
#endif
