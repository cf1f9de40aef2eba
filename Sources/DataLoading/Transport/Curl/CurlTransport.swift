// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl
    import Dispatch
    import Foundation
    import Synchronization

    /// The transport on Linux: the system's libcurl, driven by one thread.
    ///
    /// The library (libcurl.so.4, 7.66 or later) is loaded with the first attempt; where it is
    /// missing, attempts fail `.unsupported`. The thread starts with the first attempt too and ends
    /// with `shutDown`, or with the last attempt after the transport was let go.
    ///
    /// Nothing is sent that the request does not name, but `Host`, `Accept: */*`, `Accept-Encoding`,
    /// the length of a body, and `Expect` before a large one.
    ///
    /// HTTP/1.1, and HTTP/2 where the request allows it (see ``HTTP2Use``) and the server agrees to it
    /// over TLS; responses that are streamed use HTTP/1.1, where a paused reader holds the server back
    /// on its own connection. Until one attempt knows what a server speaks, the others to that server
    /// wait for it, within their own limits to connect; where its handshake lasts half a second, another
    /// one tries as well, and so on, five of them at most. A server that has chosen HTTP/1.1 is offered
    /// HTTP/2 again after 10 minutes, by one attempt, while the others go on. One that wants HTTP/1.1 for
    /// a request (HTTP_1_1_REQUIRED) is sent everything over HTTP/1.1 for 10 minutes. A connection takes
    /// no new attempt once it is 300 s old, in use or not, so that changes of names and certificates are
    /// followed. Bodies in gzip
    /// or deflate are asked for and decoded, unless the request sets `Accept-Encoding` itself or
    /// asks for a `Range`; head fields stay as they came. A coding that is unknown fails the attempt
    /// with `.decode`. Proxies of the environment are not used. Sinks are called on the transport's
    /// thread and must return soon: while one blocks, every attempt waits.
    ///
    /// Over HTTP/2 a body without a length counts as whole when its server breaks it off and calls that
    /// no error: libcurl 7.88 does not tell the one from the other. An upload ends with a whole answer,
    /// whatever its status: libcurl 8.14 sends nothing after that, and 7.88 is made to do the same. How
    /// much was sent is in the report. An answer whose server ends the stream
    /// while the body is being sent counts where all of its length has arrived; libcurl 7.88 drops
    /// what came together with that end, and the attempt then fails with `.http2`.
    ///
    /// A process that forks must exec: in a mere copy attempts fail `.unsupported`.
    public final class CurlTransport: Transport {
        private enum State {
            case idle
            case running(LoopHandle)
            case shutDown(LoopHandle?)
        }

        #if DEBUG
            private static let live = Atomic(0)
            /// How many transports there are, for tests of what is left behind.
            static var count: Int { live.load(ordering: .relaxed) }
        #endif
        private let setup: LoopSetup
        private let state = Locked(State.idle)
        private let forks = ccurl_forks()
        /// Where attempts fail that no loop takes: not on a global queue, which may be busy.
        private let refusals = DispatchQueue(label: "DataLoading.refusals")

        /// Makes a transport that keeps about so many idle connections, 64 by default.
        ///
        /// They are used again for 60 s, and closed when nothing was loaded for so long.
        public convenience init(idleConnectionLimit: Int = 64) {
            self.init(idle: IdleConnections(limit: idleConnectionLimit))
        }

        init(
            idle: IdleConnections = IdleConnections(),
            names: NameLifetimes = NameLifetimes(), sleep: SleepWatch = SleepWatch(),
            lacking: Set<CurlLibrary.Ability> = [],
            lookup: @escaping NameResolver.Lookup = NameResolver.systemLookup
        ) {
            setup = LoopSetup(
                idle: idle, lookup: lookup, names: names, sleep: sleep, lacking: lacking)
            #if DEBUG
                Self.live.add(1, ordering: .relaxed)
            #endif
        }

        deinit {
            #if DEBUG
                Self.live.subtract(1, ordering: .relaxed)
            #endif
            // Attempts that run are finished; the thread then ends by itself.
            loopHandle?.mailbox.post(.retire)
        }

        /// Starts one attempt.
        public func start(
            _ attempt: TransportRequest, sink: any TransportSink
        ) -> any TransportTask {
            // Before any lock: in a forked child another thread may hold it for ever.
            guard ccurl_forks() == forks else {
                return refuse(sink, .unsupported(reason: "the process was forked"), isForked: true)
            }
            guard let library = CurlLibrary.shared else {
                return refuse(sink, .unsupported(reason: CurlLibrary.failure))
            }
            let (loop, error) = runningLoop(library)
            guard let loop else { return refuse(sink, error) }
            let task = CurlTask(request: attempt, sink: sink, mailbox: loop.mailbox)
            guard loop.mailbox.post(.start(task)) else { return refuse(sink, .serviceInvalidated) }
            return task
        }

        /// Drops idle connections and known names; attempts that run are not touched.
        public func reset() async {
            guard let loop = loopHandle else { return }
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                if !loop.mailbox.post(.reset { continuation.resume() }) { continuation.resume() }
            }
        }

        /// Ends every attempt with `.serviceInvalidated`, and returns when the thread is gone.
        public func shutDown() async {
            let loop = state.withLock { state in
                switch state {
                case .idle:
                    state = .shutDown(nil)
                    return nil as LoopHandle?
                case .running(let loop):
                    state = .shutDown(loop)
                    return loop
                case .shutDown(let loop): return loop
                }
            }
            loop?.mailbox.post(.shutDown)
            await loop?.waitUntilOver()
        }

        /// The loop that runs; nil before the first attempt and after `shutDown`.
        var loopHandle: LoopHandle? {
            state.withLock { if case .running(let loop) = $0 { loop } else { nil } }
        }

        private func runningLoop(_ library: CurlLibrary) -> (LoopHandle?, DataLoaderError) {
            state.withLock { state in
                switch state {
                case .running(let loop): return (loop, .serviceInvalidated)
                case .shutDown: return (nil, .serviceInvalidated)
                case .idle:
                    let loop = LoopHandle.start(library: library, setup: setup)
                    if let loop { state = .running(loop) }
                    return (loop, .resources(reason: "no thread or descriptor for the loop"))
                }
            }
        }

        private func refuse(
            _ sink: any TransportSink, _ error: DataLoaderError, isForked: Bool = false
        ) -> any TransportTask {
            let deliver = { @Sendable in
                sink.didFail(TransportFailure(error, sent: .nothingWritten))
            }
            // A forked child has none of Dispatch's threads.
            if isForked {
                if let thread = LoopThread.start("DataLoading", deliver) { pthread_detach(thread) }
            } else {
                refusals.async(execute: deliver)
            }
            return RefusedTask()
        }
    }

    /// How many connections may wait for another attempt, and how long.
    struct IdleConnections: Sendable {
        let limit: Int
        let lifetime: Duration
        /// How old a connection is at most when it takes another attempt, so that changes of names
        /// and certificates are followed.
        let maximumAge: Duration
        /// How long a server that has chosen HTTP/1.1 is not offered HTTP/2 again.
        ///
        /// Each offer that it turns down costs a connection, which is not used again; ten minutes make
        /// that one in a hundred or fewer on a busy route, and servers change more seldom.
        let protocolMemory: Duration
        /// Whether OpenSSL is asked what a server has chosen; otherwise the head of a response tells.
        let seesChoice: Bool
        /// How long a first connection to a server holds up the attempts that could join it.
        ///
        /// Most handshakes end within that, and a few seconds have room for several.
        let leaderTime: Duration

        init(
            limit: Int = 64, lifetime: Duration = .seconds(60),
            maximumAge: Duration = .seconds(300), protocolMemory: Duration = .seconds(600),
            seesChoice: Bool = true, leaderTime: Duration = .milliseconds(500)
        ) {
            self.limit = max(1, limit)
            self.lifetime = lifetime
            self.maximumAge = maximumAge
            self.protocolMemory = protocolMemory
            self.seesChoice = seesChoice
            self.leaderTime = leaderTime
        }
    }

    /// The handle on an attempt that was never taken.
    private final class RefusedTask: TransportTask {
        func cancel() {}
        func pause() {}
        func resume() {}
    }
#endif
