// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

#if os(Linux)
    /// Each test runs in a process of its own, which keeps what is set.
    @Suite(.timeLimit(.minutes(30))) struct CoreDumpTests {
        private static let filter = "/proc/self/coredump_filter"

        /// Starts operations, as a daemon does.
        private static func start(_ configure: (inout OperationsConfiguration) -> Void) throws {
            var settings = OperationsConfiguration(environment: [:])
            configure(&settings)
            var configuration = DataLoaderService.Configuration()
            configuration.transport = ScriptedTransport(otherwise: .hold)
            let operations = Operations(settings, instrumenting: &configuration)
            try operations.start(for: DataLoaderService(configuration: configuration))
        }

        private static var limit: rlimit {
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
            return limit
        }

        /// Undoes what this process has inherited from one that has started operations.
        private static func setUsualFilter() throws {
            try "0x33".write(toFile: filter, atomically: false, encoding: .utf8)
            try #require(try mappings() == "00000033\n")
        }

        private static func mappings() throws -> String {
            try String(contentsOfFile: filter, encoding: .utf8)
        }

        @Test func `after the start of operations a core dump has no memory`() async {
            await #expect(processExitsWith: .success) {
                try Self.setUsualFilter()
                try Self.start { _ in }
                #expect(Self.limit.rlim_cur == 0)
                #expect(Self.limit.rlim_max == 0)
                #expect(try Self.mappings() == "00000000\n")
            }
        }

        @Test func `core dumps stay as they are if the configuration says so`() async {
            await #expect(processExitsWith: .success) {
                try Self.setUsualFilter()
                let (limit, mappings) = (Self.limit, try Self.mappings())
                try Self.start { $0.forbidsCoreDumps = false }
                #expect(Self.limit.rlim_cur == limit.rlim_cur)
                #expect(Self.limit.rlim_max == limit.rlim_max)
                #expect(try Self.mappings() == mappings)
            }
        }

        @Test func `without the file of the filter only the limit is set`() async {
            await #expect(processExitsWith: .success) {
                let directory = TemporaryDirectory()
                try Self.setUsualFilter()
                let mappings = try Self.mappings()
                CoreDumps.forbid(filter: directory.url("none").path)
                #expect(Self.limit.rlim_max == 0)
                #expect(try Self.mappings() == mappings)
                #expect(directory.names.isEmpty)
            }
        }
    }
#endif
