// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import DataLoadingTransport
import Foundation
import Testing

/// What a service learns of its transport through those that wrap it.
@Suite struct WrappedTransportTests {
    /// A transport whose thread answers when the test says so.
    private final class Inner: ObservableTransport, ExecutingTransport {
        let isFree = Waker()
        let echoes = Locked(0)

        func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
            ScriptedTransport().start(attempt, sink: sink)
        }

        func reset() async {}
        func shutDown() async {}

        func echo() async {
            echoes.withLock { $0 += 1 }
            await isFree.wait()
        }

        func snapshot() -> TransportSnapshot {
            TransportSnapshot(openConnections: 3, runningAttempts: 2, longestRound: .zero)
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        var taskExecutor: any TaskExecutor { globalConcurrentExecutor }
    }

    /// A wrapper of a program's own; `isOpen` says whether it returns what it wraps.
    private struct Own: Transport {
        let next: any Transport
        var isOpen = true

        func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
            next.start(attempt, sink: sink)
        }

        func reset() async { await next.reset() }
        func shutDown() async { await next.shutDown() }
        var wrapped: (any Transport)? { isOpen ? next : nil }
    }

    /// A wrapper that returns itself.
    private final class Endless: Transport {
        func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
            ScriptedTransport().start(attempt, sink: sink)
        }

        func reset() async {}
        func shutDown() async {}
        var wrapped: (any Transport)? { self }
    }

    private func service(_ transport: any Transport) -> DataLoaderService {
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        return DataLoaderService(configuration: configuration)
    }

    @Test func `through wrappers a service finds the transport that has threads`() async {
        let inner = Inner()
        let service = service(
            Own(next: ThrottledTransport(Own(next: inner), maximumInFlight: 1)))
        #expect(service.snapshot().transport?.openConnections == 3)
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            #expect(service.taskExecutor != nil)
        }
        let hasAnswered = Locked(false)
        let echo = Task {
            await service.transportEcho()
            hasAnswered.withLock { $0 = true }
        }
        await eventually { inner.echoes.withLock { $0 } == 1 }
        // The wrappers do not answer for it.
        #expect(!hasAnswered.withLock { $0 })
        inner.isFree.wake()
        await echo.value
    }

    @Test func `a wrapper that keeps its transport to itself tells nothing`() async {
        let service = service(Own(next: Inner(), isOpen: false))
        #expect(service.snapshot().transport == nil)
        await service.transportEcho()
    }

    @Test func `a transport that wraps itself is not followed for ever`() async {
        let service = service(Endless())
        #expect(service.snapshot().transport == nil)
        await service.transportEcho()
    }

    @Test func `a counted transport returns the one that it counts`() {
        let registry = MetricRegistry.make()
        let counted = Inner().counted(by: registry)
        #expect(counted.wrapped is Inner)
    }
}
