// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
public import DataLoadingTransport
import CCurl
import Dispatch
import Foundation
import Synchronization

/// The transport on Linux: the system's libcurl, driven by one thread or a few.
///
/// The first attempt loads the library (libcurl.so.4, 7.66 or later); where it is missing,
/// attempts fail with `.unsupported`. The first attempt also starts the thread, which ends with
/// `shutDown`, or with the last attempt after the transport was released.
///
/// A transport may have several threads, each with an event loop, its own connections and its own
/// answers of name look-ups. The attempts and connections of an origin are all on one of them; new
/// origins are given to them in turn. More than one pays where a core is busy with loads from
/// several origins. Each is started by the first attempt that needs it. A second thread for each sleeps
/// until a delegate that is called there blocks, and then runs its event loop.
///
/// libcurl adds nothing to the request except `Host`, `Accept: */*`, `Accept-Encoding`, the
/// length of a body, and `Expect` before a large body. Proxies of the environment are not used.
///
/// A proxy needs libcurl 7.80 or later. An attempt over a Unix-domain socket has a connection of its
/// own and uses HTTP/1.1.
///
/// Sinks are called on a thread of the transport and must return soon: while one blocks, every
/// attempt on that thread waits.
///
/// Over HTTP/1.1 and HTTP/2:
///
/// - HTTP/2 is used where the request allows it (see ``HTTP2Use``) and the server agrees to it
///   over TLS. Streamed responses use HTTP/1.1, where a paused reader stops only its own
///   connection.
/// - Until one attempt knows which protocol a server speaks, the other attempts to that server
///   wait for it, within their own connect limits. When its handshake takes half a second,
///   another attempt connects as well, up to five of them.
/// - A server that has chosen HTTP/1.1 is offered HTTP/2 again after 10 minutes, by one
///   attempt, while the others use HTTP/1.1. A server that requires HTTP/1.1 for a request
///   (HTTP_1_1_REQUIRED) is sent everything over HTTP/1.1 for 10 minutes.
/// - A connection takes no new attempt once it is 300 s old, in use or not, so that changes of
///   names and certificates take effect.
///
/// Bodies are requested in gzip or deflate and decoded, unless the request sets
/// `Accept-Encoding` itself or asks for a `Range`. Header fields are delivered unchanged. An
/// unknown coding fails the attempt with `.decode`.
///
/// Limits that come from libcurl:
///
/// - Below 8.1.0 an upload without a length uses HTTP/1.1: at its end libcurl may damage the bodies
///   of other responses on its connection of HTTP/2.
/// - Over HTTP/2 a body without a length counts as complete when its server aborts it with
///   NO_ERROR: libcurl 7.88 cannot tell the two apart.
/// - A complete response ends an upload, whatever its status: libcurl 8.14 sends nothing after
///   it, and this transport makes 7.88 do the same. The report says how much was sent.
/// - A response whose server ends the stream during the upload counts if its declared length
///   has arrived. libcurl 7.88 drops what arrives together with that end, and the attempt then
///   fails with `.http2`.
///
/// A process that forks must exec: in a forked copy attempts fail with `.unsupported`.
public final class CurlTransport: Transport {
    #if DEBUG
        private static let live = Atomic(0)
        /// The number of transports in the process, for tests that look for leaks.
        static var count: Int { live.load(ordering: .relaxed) }
    #endif
    /// The configuration of each loop.
    private let setup: LoopSetup
    private let loopCount: Int
    private let loops: Locked<LoopTable<LoopHandle>>
    let executor = Locked(PresentExecutor())
    private let forks = ccurl_forks()
    /// Delivers the failures of attempts that no loop takes; a global queue may be busy.
    private let refusals = DispatchQueue(label: "DataLoading.refusals")

    /// Makes a transport that keeps about this many idle connections, 64 by default, and has this
    /// many threads, by default one.
    ///
    /// With another number of connections than 1 to 1,000,000, or of threads than 1 to 64, every
    /// attempt fails `.invalidConfiguration`. Idle connections are reused for 60 s, and closed when
    /// nothing was loaded for that time. Several threads split the limit: each keeps an equal part of
    /// it, rounded up.
    public convenience init(idleConnectionLimit: Int = 64, loops: Int = 1) {
        self.init(idle: IdleConnections(limit: idleConnectionLimit), loops: loops)
    }

    init(
        idle: IdleConnections = IdleConnections(),
        names: NameLifetimes = NameLifetimes(), sleep: SleepWatch = SleepWatch(),
        lacking: Set<CurlLibrary.Ability> = [], loops: Int = 1,
        lookup: @escaping NameResolver.Lookup = NameResolver.systemLookup
    ) {
        loopCount = loops
        let isValid = LoopCount.range.contains(loops)
        setup = LoopSetup(
            idle: idle, lookup: lookup, names: names, sleep: sleep, lacking: lacking
        ).share(of: isValid ? loops : 1)
        self.loops = Locked(LoopTable(count: isValid ? loops : 1))
        #if DEBUG
            Self.live.add(1, ordering: .relaxed)
        #endif
    }

    deinit {
        #if DEBUG
            Self.live.subtract(1, ordering: .relaxed)
        #endif
        // Running attempts are finished, and then the threads end.
        for loop in loopHandles { loop.mailbox.post(.retire) }
    }

    /// Starts one attempt.
    public func start(
        _ attempt: TransportRequest, sink: any TransportSink
    ) -> any TransportTask {
        // This precedes any lock: in a forked child another thread may hold one for ever.
        guard ccurl_forks() == forks else {
            return refuse(sink, .unsupported(reason: "the process was forked"), isForked: true)
        }
        guard !setup.idle.isMalformed else {
            return refuse(
                sink,
                .malformed("CurlTransport.idleConnectionLimit", "is not from 1 to 1,000,000"))
        }
        guard LoopCount.range.contains(loopCount) else {
            return refuse(sink, .malformed("CurlTransport.loops", "is not from 1 to 64"))
        }
        guard let library = CurlLibrary.shared else {
            return refuse(sink, .unsupported(reason: CurlLibrary.failure))
        }
        let origin = loopCount > 1 ? OriginSeats.origin(of: attempt) : nil
        let place: LoopTable<LoopHandle>.Place
        do throws(DataLoaderError) {
            place = try self.place(of: origin, library)
        } catch {
            return refuse(sink, error)
        }
        let mailbox = place.loop.mailbox
        let task = CurlTask(request: attempt, sink: sink, mailbox: mailbox, seat: place.seat)
        guard mailbox.post(.start(task)) else { return refuse(sink, .serviceInvalidated) }
        return task
    }

    /// Runs a job on the calling thread's loop, or on the first; false where there is none.
    func run(_ job: LoopExecutor.Job) -> Bool {
        guard ccurl_forks() == forks, let library = CurlLibrary.shared else { return false }
        let own = loopCount > 1 ? loopHandles.first(where: \.isCurrent) : nil
        guard let loop = own ?? (try? place(of: nil, library))?.loop else { return false }
        return loop.mailbox.post(.run(job))
    }

    /// Drops idle connections and resolved names; running attempts are not affected.
    public func reset() async { await ask { .reset($0) } }

    /// Posts a message to each running loop, and returns when all have done what it says.
    func ask(_ message: (@escaping @Sendable () -> Void) -> LoopMessage) async {
        let loops = loopHandles
        guard !loops.isEmpty else { return }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let left = Locked(loops.count)
            let done = { @Sendable in
                if left.add(-1) == 0 { continuation.resume() }
            }
            for loop in loops where !loop.mailbox.post(message(done)) { done() }
        }
    }

    /// Ends every attempt with `.serviceInvalidated`, and returns when the threads have ended.
    public func shutDown() async {
        let loops = self.loops.withLock { $0.shutDown() }
        for loop in loops { loop.mailbox.post(.shutDown) }
        for loop in loops { await loop.waitUntilOver() }
    }

    /// The running loops; none before the first attempt and after `shutDown`.
    var loopHandles: [LoopHandle] { loops.withLock { $0.running } }

    /// The number of origins that have a place on a loop, where there are several.
    var originCount: Int { loops.withLock { $0.originCount } }

    private func place(
        of origin: Origin?, _ library: CurlLibrary
    ) throws(DataLoaderError) -> LoopTable<LoopHandle>.Place {
        try loops.withLock { loops throws(DataLoaderError) in
            try loops.place(of: origin, now: LoopClock.now) {
                LoopHandle.start(library: library, setup: setup)
            }
        }
    }

    private func refuse(
        _ sink: any TransportSink, _ error: DataLoaderError, isForked: Bool = false
    ) -> any TransportTask {
        let deliver = { @Sendable in
            sink.didFail(TransportFailure(error, sent: .nothingWritten))
        }
        // A forked child has no threads of Dispatch.
        if isForked {
            if let thread = LoopThread.start("DataLoading", deliver) { pthread_detach(thread) }
        } else {
            refusals.async(execute: deliver)
        }
        return RefusedTask()
    }
}

/// The handle on an attempt that was refused.
private final class RefusedTask: TransportTask {
    func cancel() {}
    func pause() {}
    func resume() {}
}
