// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

#if os(Linux)
    extension SocketTests {
        /// Reloads by the program and by SIGHUP at once.
        @Suite(.timeLimit(.minutes(30))) struct ReloadOrderTests {
            @Test func `reloads at once run one after another, and systemd is told of each`()
                async throws
            {
                let directory = TemporaryDirectory()
                let listener = try #require(NotifyListener(directory.url("notify").path))
                var configuration = DataLoaderService.Configuration()
                configuration.transport = ScriptedTransport(otherwise: .respond(status: 200))
                let operations = Operations(
                    OperationsConfiguration(environment: listener.environment),
                    instrumenting: &configuration)
                let service = DataLoaderService(configuration: configuration)
                try operations.start(for: service)
                let inside = Locked(0)
                let together = Locked(0)
                DispatchQueue.concurrentPerform(iterations: 4) { _ in
                    operations.reload {
                        if inside.add(1) > 1 { together.add(1) }
                        // Time for the others.
                        for _ in 0..<1_000 { sched_yield() }
                        inside.add(-1)
                    }
                }
                #expect(together.withLock { $0 } == 0)
                let messages = listener.rest().map { $0.split(separator: "\n").first ?? "" }
                #expect(messages.first == "READY=1")
                #expect(
                    Array(messages.dropFirst())
                        == (0..<8).map { $0.isMultiple(of: 2) ? "RELOADING=1" : "READY=1" })
                await operations.shutDown(gracePeriod: .zero)
            }
        }
    }
#endif
