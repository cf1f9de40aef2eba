// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import DataLoadingTransport
import Dispatch
import Foundation
import Testing

/// Where and in which order a loader with direct delivery calls its delegate.
@Suite final class DirectDeliveryTests {
    private let transport = HandedTransport()
    private let service: DataLoaderService

    init() {
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        service = DataLoaderService(configuration: configuration)
    }

    deinit {
        // The sinks hold their loads, and these the transport.
        transport.forget()
    }

    private func makeLoader(_ delegate: any DataLoaderDelegate) -> DataLoader {
        service.makeFactory().makeDataLoader(delegate: delegate, delivery: .direct)
    }

    /// The sink of the attempt of a number, once it was started.
    private func sink(_ number: Int = 0) async -> any TransportSink {
        await transport.first(number + 1)[number]
    }

    @Test func `a load that the transport ends is delivered before the transport goes on`() async {
        let delegate = ThreadDelegate()
        let loader = makeLoader(delegate)
        for number in 0..<3 {
            loader.perform(.make("/\(number)"))
            await sink(number).succeed("body")
            // In place: there is nothing to wait for.
            #expect(delegate.paths == (0...number).map { "/\($0)" })
        }
        #expect(delegate.bodies.allSatisfy { $0 == Data("body".utf8) })
    }

    @Test func `by default the delegate is called on its queue`() async {
        let delegate = ThreadDelegate()
        let queue = DispatchQueue(label: "delegate")
        queue.suspend()
        let loader = service.makeFactory().makeDataLoader(delegate: delegate, delegateQueue: queue)
        loader.perform(.make())
        await sink().succeed()
        #expect(delegate.paths == [])
        queue.resume()
        _ = await delegate.calls.first(1)
    }

    @Test func `an outcome that perform decides comes later, on the delegate queue`() async {
        let delegate = ThreadDelegate()
        let queue = DispatchQueue(label: "delegate")
        let loader = service.makeFactory().makeDataLoader(
            delegate: delegate, delegateQueue: queue, delivery: .direct)
        queue.suspend()
        loader.perform(.make(host: "file://nowhere"))
        loader.perform(.make("/held")).cancel()
        #expect(delegate.paths == [])
        queue.resume()
        #expect(await delegate.calls.first(2).count == 2)
    }

    @Test func `loads that the delegate performs are delivered when its call returns`() async {
        let delegate = ThreadDelegate()
        let isInside = Locked(false)
        let nested = Locked(0)
        delegate.whenCalled { loader, path in
            if isInside.withLock({ $0 }) { nested.withLock { $0 += 1 } }
            guard path == "/first" else { return }
            isInside.withLock { $0 = true }
            // One is refused inside `perform`, one cancelled: neither may be delivered in it.
            loader.perform(.make("/refused", host: "ftp://origin.test"))
            loader.perform(.make("/cancelled")).cancel()
            isInside.withLock { $0 = false }
        }
        let loader = makeLoader(delegate)
        loader.perform(.make("/first"))
        await sink().succeed()
        // On the same thread, before the transport continues.
        #expect(delegate.paths == ["/first", "/refused", "/cancelled"])
        #expect(nested.withLock { $0 } == 0)
    }

    @Test func `another loader's outcome that is decided in a call comes on its own queue`() async {
        let queue = DispatchQueue(label: "other")
        queue.suspend()
        let (delegate, otherDelegate) = (ThreadDelegate(), ThreadDelegate())
        let other = service.makeFactory().makeDataLoader(
            delegate: otherDelegate, delegateQueue: queue, delivery: .direct)
        delegate.whenCalled { _, _ in other.perform(.make(host: "ftp://origin.test")) }
        let loader = makeLoader(delegate)
        loader.perform(.make())
        await sink().succeed()
        #expect(delegate.paths == ["/"])
        #expect(otherDelegate.paths == [])
        queue.resume()
        _ = await otherDelegate.calls.first(1)
    }

    @Test func `calls never overlap, whoever decides the outcomes`() async {
        let delegate = ThreadDelegate()
        let running = Locked(0)
        let overlaps = Locked(0)
        delegate.whenCalled { _, _ in
            let isAlone = running.withLock {
                $0 += 1; return $0 == 1
            }
            if !isAlone { overlaps.withLock { $0 += 1 } }
            for _ in 0..<100 { sched_yield() }
            running.withLock { $0 -= 1 }
        }
        let loader = makeLoader(delegate)
        let tokens = (0..<200).map { loader.perform(.make("/\($0)")) }
        let sinks = await transport.first(8)
        await withTaskGroup(of: Void.self) { group in
            for sink in sinks { group.addTask { sink.succeed() } }
            group.addTask { for token in tokens.dropFirst(8) { token.cancel() } }
        }
        loader.cancelAllLoads()
        _ = await delegate.calls.first(200)
        #expect(overlaps.withLock { $0 } == 0)
        #expect(Set(delegate.paths).count == 200)
    }

    @Test func `a delegate whose loads end at once gives the transport's thread back`() async {
        let delegate = ThreadDelegate()
        let threads = EventRecorder<ObjectIdentifier>()
        delegate.whenCalled { loader, _ in
            threads.record(Self.thread)
            guard threads.elements.count < 1_000 else { return }
            loader.perform(.make(host: "ftp://origin.test"))
        }
        let loader = makeLoader(delegate)
        loader.perform(.make())
        let sink = await sink()
        let transport = Self.thread(afterwards: { sink.succeed() })
        let all = await threads.first(1_000)
        #expect(all.prefix { $0 == transport }.count == 17)
        #expect(!all.dropFirst(17).contains(transport))
    }

    private static var thread: ObjectIdentifier { ObjectIdentifier(Thread.current) }

    /// Returns the thread on which it was called; `work` is done on it first.
    private static func thread(afterwards work: () -> Void) -> ObjectIdentifier {
        work()
        return thread
    }

    @Test func `chunks come on the transport's thread, in order, and then the outcome`() async {
        let delegate = RecordingDelegate(supportsChunks: true)
        let loader = makeLoader(delegate)
        loader.perform(.make { $0.chunks = true })
        let sink = await sink()
        sink.didReceive(ResponseHead(status: .ok, headers: ["Content-Length": "4000"]))
        // The first ones may still be on the queue, which asked for chunks.
        loader.queue.sync {}
        for number in 0..<4 {
            sink.didReceive(Data(repeating: UInt8(number), count: 1_000))
            #expect(delegate.events.count == 2 + number)
        }
        sink.didEnd(TransportReport())
        #expect(delegate.events.last?.isTerminal == true)
        #expect(delegate.events.count == 6)
    }

    @Test func `a loader may be dropped, cancelled and shut down inside a call`() async {
        for how in 0..<3 {
            let delegate = ThreadDelegate()
            let held = Locked<DataLoader?>(nil)
            let isShutDown = EventRecorder<Void>()
            delegate.whenCalled { [service] loader, path in
                guard path == "/first" else { return }
                switch how {
                case 0: _ = held.withLock { $0.take() }
                case 1: loader.cancelAllLoads()
                default:
                    Task {
                        await service.shutDown(gracePeriod: .zero)
                        isShutDown.record(())
                    }
                }
            }
            let first = transport.count
            held.withLock { $0 = makeLoader(delegate) }
            held.withLock { $0 }?.perform(.make("/first"))
            held.withLock { $0 }?.perform(.make("/second"))
            let sinks = await transport.first(first + 2)
            sinks[first].succeed()
            if how == 1 { #expect(await delegate.calls.first(2) == ["/first", "/second"]) }
            // The held attempt was cancelled; its end comes late, as a transport's does.
            sinks[first + 1].didFail(TransportFailure(.cancelled, sent: .nothingWritten))
            if how == 2 { _ = await isShutDown.first(1) }
            let expected = how == 0 ? ["/first"] : ["/first", "/second"]
            #expect(await delegate.calls.first(expected.count) == expected)
        }
    }
}

/// A transport whose attempts a test ends on its own thread.
private final class HandedTransport: Transport {
    private let sinks = Locked<EventRecorder<any TransportSink>?>(EventRecorder())

    /// The number of attempts so far.
    var count: Int { sinks.withLock { $0 }?.elements.count ?? 0 }

    /// The sinks of the first attempts, once these have started.
    func first(_ count: Int) async -> [any TransportSink] {
        await sinks.withLock { $0 }?.first(count) ?? []
    }

    func forget() { _ = sinks.withLock { $0.take() } }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        sinks.withLock { $0 }?.record(sink)
        return Ignoring()
    }

    func reset() async {}

    func shutDown() async {}

    private final class Ignoring: TransportTask {
        func cancel() {}
        func pause() {}
        func resume() {}
    }
}

extension TransportSink {
    fileprivate func succeed(_ body: String = "") {
        didReceive(ResponseHead(status: .ok))
        if !body.isEmpty { didReceive(Data(body.utf8)) }
        didEnd(TransportReport())
    }
}

/// Records the path of each outcome and runs a test's code inside the call.
private final class ThreadDelegate: DataLoaderDelegate {
    typealias Work = @Sendable (DataLoader, String) -> Void

    let calls = EventRecorder<String>()
    private let state = Locked<(work: Work?, bodies: [Data?])>((nil, []))

    var paths: [String] { calls.elements }
    var bodies: [Data?] { state.withLock { $0.bodies } }

    func whenCalled(_ work: @escaping Work) { state.withLock { $0.work = work } }

    private func ended(_ loader: DataLoader, _ request: DataLoaderRequest, _ body: Data?) {
        let work = state.withLock { state in
            state.bodies.append(body)
            return state.work
        }
        calls.record(request.url.path)
        work?(loader, request.url.path)
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) { ended(dataLoader, response.request, response.body) }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) { ended(dataLoader, response.request, response.body) }

    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {
        ended(dataLoader, request, nil)
    }
}
