// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

#if os(Linux)
    /// Each test runs in a process of its own, because signals belong to the process.
    @Suite(.timeLimit(.minutes(30))) struct DaemonRunTests {
        private struct Refused: Error {}

        /// A service whose loads have no answer.
        private static func makeService() -> DataLoaderService {
            var configuration = DataLoaderService.Configuration()
            configuration.transport = ScriptedTransport(otherwise: .hold)
            return DataLoaderService(configuration: configuration)
        }

        /// What a load in a service ends with.
        private static func outcome(_ service: DataLoaderService) async -> DataLoaderError? {
            let loader = service.makeFactory().makeDataLoader()
            let request = DataLoaderRequest(url: testURL("https://api.test/"))
            do {
                _ = try await loader.response(for: request)
                return nil
            } catch {
                return error as? DataLoaderError
            }
        }

        private static func send(_ number: Int32) { kill(getpid(), number) }

        private static func handler(of number: Int32) -> UInt {
            var action = sigaction()
            sigaction(number, nil, &action)
            return unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self)
        }

        @Test func `a service runs until SIGTERM or SIGINT, and refuses loads then`() async {
            await #expect(processExitsWith: .success) {
                for number in [SIGTERM, SIGINT] {
                    let service = Self.makeService()
                    let load = Task { await Self.outcome(service) }
                    let left = await service.run(gracePeriod: .zero) {
                        await eventually { service.snapshot().running == 1 }
                        Self.send(number)
                    }
                    #expect(left.isEmpty)
                    #expect(await load.value == .cancelled)
                    #expect(await Self.outcome(service) == .serviceInvalidated)
                }
            }
        }

        // libdispatch installs its handler for the first source of a signal only.
        @Test func `the actions of signals are restored, and a later run receives them again`()
            async
        {
            await #expect(processExitsWith: .success) {
                signal(SIGUSR2, SIG_IGN)
                signal(SIGALRM) { _ in }
                let numbers = [SIGUSR1, SIGUSR2, SIGALRM]
                let before = numbers.map(Self.handler)
                for number in numbers + numbers {
                    await Self.makeService().run(untilSignals: numbers, gracePeriod: .zero) {
                        #expect(!numbers.map(Self.handler).contains { $0 <= 1 })
                        Self.send(number)
                    }
                    #expect(numbers.map(Self.handler) == before)
                }
            }
        }

        @Test func `all runs receive a signal, and the last one restores its action`() async {
            await #expect(processExitsWith: .success) {
                let begun = EventRecorder<Void>()
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            await Self.makeService().run(
                                untilSignals: [SIGUSR1], gracePeriod: .zero
                            ) { begun.record(()) }
                        }
                    }
                    _ = await begun.first(8)
                    Self.send(SIGUSR1)
                }
                #expect(Self.handler(of: SIGUSR1) == 0)
            }
        }

        @Test func `a second signal ends the process by its default action`() async {
            await #expect(processExitsWith: .signal(SIGTERM)) {
                let service = Self.makeService()
                let load = Task { await Self.outcome(service) }
                await eventually { service.snapshot().running == 1 }
                async let left = service.run(gracePeriod: .seconds(3_600)) { Self.send(SIGINT) }
                await eventually { service.snapshot().stage != .open }
                Self.send(SIGTERM)
                _ = await (left, load.value)
            }
        }

        @Test func `a cancelled task ends the run in order, and restores the actions`() async {
            await #expect(processExitsWith: .success) {
                let service = Self.makeService()
                let load = Task { await Self.outcome(service) }
                await eventually { service.snapshot().running == 1 }
                let run = Task { await service.run(gracePeriod: .milliseconds(1)) }
                run.cancel()
                #expect(await run.value.isEmpty)
                #expect(await load.value == .cancelled)
                #expect(Self.handler(of: SIGTERM) == 0)
            }
        }

        @Test func `what the start of operations throws is thrown on, and the service stays open`()
            async
        {
            await #expect(processExitsWith: .success) {
                var configuration = DataLoaderService.Configuration()
                let operations = Operations(
                    OperationsConfiguration(environment: [:]), instrumenting: &configuration)
                let service = DataLoaderService(configuration: configuration)
                await #expect(throws: Refused.self) {
                    try await operations.run(gracePeriod: .zero) {
                        try operations.start(for: service)
                        throw Refused()
                    }
                }
                #expect(service.snapshot().stage == .open)
                #expect(Self.handler(of: SIGTERM) == 0)
            }
        }

        @Test func `numbers that no process receives are left out`() async {
            await #expect(processExitsWith: .success) {
                let numbers = [SIGKILL, SIGSTOP, 0, -1, 32, 65, .max, .min, SIGUSR1, SIGUSR1]
                await Self.makeService().run(untilSignals: numbers, gracePeriod: .zero) {
                    Self.send(SIGUSR1)
                }
            }
        }

        @Test func `operations tell systemd and the log what a daemon's signals lead to`() async {
            await #expect(processExitsWith: .success) {
                let directory = TemporaryDirectory()
                let path = directory.url("access.log").path
                let listener = try #require(NotifyListener(directory.url("notify").path))
                var settings = OperationsConfiguration(environment: listener.environment)
                settings.log = AccessLog(.json, to: .file(path))
                var configuration = DataLoaderService.Configuration()
                configuration.transport = ScriptedTransport(otherwise: .hold)
                let operations = Operations(settings, instrumenting: &configuration)
                let service = DataLoaderService(configuration: configuration)
                let reloads = Locked(0)
                async let left = operations.run(gracePeriod: .zero) {
                    try operations.start(for: service)
                } onHangup: {
                    // The second file of three has a mistake.
                    if reloads.add(1) == 2 { throw Refused() }
                }
                var messages = await listener.first(1)
                // At once: systemd knows that the daemon is ready.
                for count in [2, 3, 3] {
                    Self.send(SIGHUP)
                    messages += await listener.first(count)
                }
                #expect(reloads.withLock { $0 } == 3)
                try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
                Self.send(SIGTERM)
                #expect(try await left?.isEmpty == true)
                messages += await listener.first(2)
                let failure = "The configuration was not read again: Refused()"
                #expect(
                    messages.map { $0.split(separator: "\n").first.map(String.init) } == [
                        "READY=1", "RELOADING=1", "READY=1", "RELOADING=1", "READY=1",
                        "STATUS=\(failure)", "RELOADING=1", "READY=1",
                        "STATUS=The configuration was read again.", "STOPPING=1",
                        "EXTEND_TIMEOUT_USEC=35000000",
                    ])
                let log = try String(contentsOfFile: path + ".1", encoding: .utf8)
                #expect(log.contains("\"level\":\"error\",\"message\":\"\(failure)\"}"))
                #expect(log.split(separator: "\n").count == 1)
                #expect([SIGHUP, SIGTERM, SIGINT].map(Self.handler) == [0, 0, 0])
            }
        }

        @Test func `operations that did not start end with nothing`() async {
            await #expect(processExitsWith: .success) {
                var configuration = DataLoaderService.Configuration()
                let operations = Operations(
                    OperationsConfiguration(environment: [:]), instrumenting: &configuration)
                let left = await operations.run(gracePeriod: .zero) { Self.send(SIGTERM) }
                #expect(left == nil)
            }
        }
    }
#endif
