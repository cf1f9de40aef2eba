// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

#if os(Linux)
    /// What a daemon changes while it runs, and what it takes from its environment.
    @Suite struct OperationsLifeTests {
        private static func scene(
            _ settings: OperationsConfiguration
        ) -> (Operations, DataLoaderService) {
            var configuration = DataLoaderService.Configuration()
            configuration.transport = ScriptedTransport([], otherwise: .respond(status: 200))
            let operations = Operations(settings, instrumenting: &configuration)
            return (operations, DataLoaderService(configuration: configuration))
        }

        @Test func `another sampling of the log holds from the next load on`() async throws {
            let directory = TemporaryDirectory()
            let path = directory.url("access.log").path
            var settings = OperationsConfiguration(environment: [:])
            settings.log = AccessLog(.json, to: .file(path))
            settings.log?.keepsSlowerThan = .seconds(60)
            let (operations, service) = Self.scene(settings)
            // Before the start there is no log, and nothing to change.
            operations.replaceLogSampling(keepsOneIn: .max)
            try operations.start(for: service)
            let loader = service.makeFactory().makeDataLoader()
            func load(_ path: String) async throws {
                for _ in 0..<10 { _ = try await loader.response(for: .make(path)) }
            }
            try await load("/all")
            operations.replaceLogSampling(keepsOneIn: .max, keepsSlowerThan: .seconds(60))
            try await load("/none")
            operations.replaceLogSampling(keepsOneIn: .max, keepsSlowerThan: .zero)
            try await load("/slow")
            operations.replaceLogSampling(keepsOneIn: 1)
            try await load("/every")
            await operations.shutDown(gracePeriod: .zero)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let counts = ["all", "none", "slow", "every"].map { name in
                text.split(separator: "\n").count { $0.contains("/\(name)") }
            }
            #expect(counts == [10, 0, 10, 10])
        }

        @Test func `programs that a daemon starts cannot speak to systemd for it`() async {
            // In a process of its own, because other tests have the environment of this one.
            await #expect(processExitsWith: .success) {
                setenv("NOTIFY_SOCKET", "/nowhere/notify", 1)
                setenv("WATCHDOG_USEC", "1000000", 1)
                let (operations, service) = OperationsLifeTests.scene(OperationsConfiguration())
                // What has come meanwhile is another's.
                setenv("WATCHDOG_PID", "2", 1)
                try operations.start(for: service)
                let names: [String] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]
                let left = names.filter { getenv($0) != nil }
                // Without the handlers of `exit`, which look for leaks.
                _exit(left == ["WATCHDOG_PID"] ? EXIT_SUCCESS : EXIT_FAILURE)
            }
        }
    }
#endif
