// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Tasks that prefer the executor of a service.
        @Suite struct LoopExecutorTests {
            private static func thread() -> UInt { UInt(pthread_self()) }

            /// The error of a load; nil for a success.
            private static func error(
                of request: DataLoaderRequest, _ loader: DataLoader
            ) async -> DataLoaderError? {
                do {
                    return try await loader.response(for: request).error
                } catch {
                    return error as? DataLoaderError
                }
            }

            private static func makeService() -> DataLoaderService {
                var configuration = DataLoaderService.Configuration()
                configuration.transport = CurlTransport()
                return DataLoaderService(configuration: configuration)
            }

            @Test func `an awaited response resumes on the transport's thread`() async throws {
                let server = try LoopbackServer { _ in .ok("fine") }
                let service = Self.makeService()
                let loader = service.makeFactory().makeDataLoader()
                let request = DataLoaderRequest(url: server.url())
                let threads = try await Task(executorPreference: service.taskExecutor) {
                    var threads: Set<UInt> = [Self.thread()]
                    for _ in 0..<20 {
                        let response = try await loader.response(for: request)
                        #expect(response.body == Data("fine".utf8))
                        threads.insert(Self.thread())
                    }
                    return threads
                }.value
                #expect(threads.count == 1)
                #expect(!threads.contains(Self.thread()))
                #expect(server.requestCount == 20)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `many tasks share the thread, and each of their loads ends once`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok("fine") }
                let service = Self.makeService()
                let loader = service.makeFactory().makeDataLoader()
                let request = DataLoaderRequest(url: server.url())
                let ended = await withTaskGroup(of: Int.self) { group in
                    for number in 0..<32 {
                        group.addTask(executorPreference: service.taskExecutor) {
                            var ended = 0
                            for turn in 0..<20 {
                                async let response = loader.response(for: request)
                                if (number + turn).isMultiple(of: 5) { await Task.yield() }
                                if (try? await response) != nil { ended += 1 }
                            }
                            return ended
                        }
                    }
                    return await group.reduce(0, +)
                }
                #expect(ended == 640)
                #expect(server.requestCount == 640)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `a task that yields again and again lets transfers go on`() async throws {
                let server = try LoopbackServer { _ in .ok("fine") }
                let service = Self.makeService()
                let loader = service.makeFactory().makeDataLoader()
                let request = DataLoaderRequest(url: server.url())
                let isOver = Locked(false)
                await withTaskGroup(of: Void.self) { group in
                    group.addTask(executorPreference: service.taskExecutor) {
                        while !isOver.withLock({ $0 }) { await Task.yield() }
                    }
                    group.addTask {
                        #expect(await Self.error(of: request, loader) == nil)
                        isOver.withLock { $0 = true }
                    }
                }
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `a cancelled task gets its error, and goes on, on the same thread`()
                async throws
            {
                let server = try LoopbackServer(script: .silent)
                let service = Self.makeService()
                let loader = service.makeFactory().makeDataLoader()
                let request = DataLoaderRequest(url: server.url())
                let task = Task(executorPreference: service.taskExecutor) {
                    let before = Self.thread()
                    let error = await Self.error(of: request, loader)
                    return (error, before == Self.thread())
                }
                await server.waitForConnections(1)
                task.cancel()
                let (error, isSameThread) = await task.value
                #expect(error == .cancelled)
                #expect(isSameThread)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `a task goes on elsewhere once the transport is shut down`() async throws {
                let server = try LoopbackServer(script: .silent)
                let service = Self.makeService()
                let loader = service.makeFactory().makeDataLoader()
                let request = DataLoaderRequest(url: server.url())
                let task = Task(executorPreference: service.taskExecutor) {
                    let first = await Self.error(of: request, loader)
                    return [first, await Self.error(of: request, loader)]
                }
                await server.waitForConnections(1)
                await service.shutDown(gracePeriod: .zero)
                #expect(await task.value == [.cancelled, .serviceInvalidated])
            }

            @Test func `shutting down from the transport's own thread returns`() async {
                let service = Self.makeService()
                let thread = await Task(executorPreference: service.taskExecutor) {
                    await service.shutDown(gracePeriod: .zero)
                    return Self.thread()
                }.value
                #expect(thread != 0)
            }

            @Test func `a transport without a task is released with its executor`() async {
                var transport: CurlTransport? = CurlTransport()
                weak let released = transport
                var executor = transport?.taskExecutor
                await Task(executorPreference: executor) {}.value
                #expect(executor === transport?.taskExecutor)
                executor = nil
                transport = nil
                await eventually { released == nil }
            }
        }
    }
#endif
