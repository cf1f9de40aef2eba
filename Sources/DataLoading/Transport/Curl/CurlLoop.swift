// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// The one thread on which everything happens that libcurl is part of.
    ///
    /// It sleeps in `epoll_wait` until a socket, the mailbox or a deadline wants it. Nothing here is
    /// shared: other threads reach it through its mailbox alone, and callers are told through
    /// their sinks.
    final class CurlLoop {
        enum Ending {
            case shutDown
            case exit
        }

        let mailbox: LoopMailbox
        let library: CurlLibrary
        /// The time of the last wake-up.
        var now = LoopClock.now
        /// The same on libcurl's clock, which stops while the machine sleeps.
        var uptime = LoopClock.uptime
        let poll: EventPoll
        let events: UnsafeMutableBufferPointer<epoll_event>
        /// Room for one step of decoding.
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        var sockets: [SocketEntry] = []
        let idle: IdleConnections
        /// When idle connections are closed; known while nothing runs.
        var idleDeadline = Int64.max
        /// When connections that nothing uses are looked at.
        var sweepDeadline = Int64.max
        /// For attempts over HTTP/1.1, and for those that offer HTTP/2.
        ///
        /// libcurl below 8.5.0 mixes the two up where one handle has connections of both to a server
        /// (curl commit 1c37d472a0).
        var http1: CurlMulti?
        var http2: CurlMulti?
        var routes: RouteTable<ObjectIdentifier>
        /// The open connections of HTTP/2 that attempts may join, by their descriptors.
        var http2Sockets: [Int32: HTTP2Socket] = [:]
        /// The last streams that the peers of open connections of HTTP/2 work on, which have said so.
        var lastStreams: [ConnectionName: UInt32] = [:]
        /// The open connections, by name, where each is looked at before it is used again.
        var descriptors: [ConnectionName: Int32] = [:]
        /// The attempts that sent last on connections of HTTP/1.1.
        var serialUsers: [ConnectionName: CurlTransfer] = [:]
        /// Those that others replaced and whose transfers still run.
        var retired: [CurlMulti] = []
        var running: [ObjectIdentifier: CurlTransfer] = [:]
        /// Those whose upload waits for its file or stream.
        var awaitingBodies: [ObjectIdentifier: CurlTransfer] = [:]
        /// Those whose upload is not over, and whose stream has brought a whole answer.
        var answeredUploads: [ObjectIdentifier: CurlTransfer] = [:]
        /// When those that were answered are looked at next.
        var nextLook: Int64 = 0
        /// Those of `running` for which a connection was made that others may send on as well.
        var makers: [ConnectionName: CurlTransfer] = [:]
        var pool: [CurlTransfer] = []
        /// How often there was a reset, which handles of before are not kept after.
        var resets = 0
        var names: NameCache
        let resolver: NameResolver
        let readers = BodyReaders()
        /// No deadline of a transfer is before this instant.
        var nextCheck = Int64.max
        var lastRemoteAddress = ""
        var spareNotices: [UnsafeMutablePointer<Int32>] = []
        /// When idle connections are looked at that are too many; known while there are.
        var nextTrim = Int64.max
        private let sleep: SleepWatch
        /// For how long the machine has slept, as far as that was noticed.
        private var slept: Int64
        private var messages: [LoopMessage] = []
        private var isRetiring = false
        private var ending: Ending?

        init(
            library: CurlLibrary, mailbox: LoopMailbox, poll: EventPoll, setup: LoopSetup
        ) {
            self.library = library.lacking(setup.lacking)
            self.mailbox = mailbox
            self.poll = poll
            idle = setup.idle
            names = NameCache(lifetimes: setup.names)
            resolver = NameResolver(lookup: setup.lookup)
            sleep = setup.sleep
            slept = setup.sleep.slept()
            routes = RouteTable(
                maximumAge: setup.idle.maximumAge.wholeNanoseconds,
                memory: setup.idle.protocolMemory.wholeNanoseconds,
                leaderTime: setup.idle.leaderTime.wholeNanoseconds)
            events = .allocate(capacity: 256)
        }

        deinit {
            events.deallocate()
            scratch.deallocate()
            for notice in spareNotices { notice.deallocate() }
        }

        var epoll: Int32 { poll.descriptor }

        var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

        static func from(_ context: UnsafeMutableRawPointer?) -> CurlLoop? {
            context.map { Unmanaged<CurlLoop>.fromOpaque($0).takeUnretainedValue() }
        }

        /// Runs until it is told to end, and says why.
        func run() -> Ending {
            while true {
                repeat {
                    readClocks()
                    takeMessages()
                    if let ending { return ending }
                    advance()
                    if isRetiring, running.isEmpty { ending = .shutDown }
                } while ending != nil || !mailbox.fallAsleep()
                waitForEvents()
            }
        }

        /// Reads the time, and lets connections go that were idle while the machine slept.
        ///
        /// Their peers and every box on the way had that time to forget them.
        func readClocks() {
            now = LoopClock.now
            uptime = LoopClock.uptime
            let before = slept
            slept = sleep.slept()
            if slept &- before >= SleepWatch.least { dropIdleConnections() }
        }

        private func takeMessages() {
            mailbox.take(into: &messages)
            for message in messages {
                // What stands behind the order to end is heard, too.
                if ending == nil { handle(message) } else if ending == .shutDown { refuse(message) }
            }
            messages.removeAll(keepingCapacity: true)
        }

        private func handle(_ message: LoopMessage) {
            switch message {
            case .start(let task): start(task)
            case .cancel(let task): cancel(task)
            case .resume(let task): resume(task)
            case .bodyReady(let task): bodyReady(task)
            case .resolved(let name, let answer): resolved(name, answer)
            case .reset(let done):
                reset()
                done()
            case .retire: isRetiring = true
            case .shutDown: ending = .shutDown
            case .exit: ending = .exit
            }
        }

        /// Lets libcurl go on where it is due, and ends what has ended.
        private func advance() {
            // libcurl sets its timer to zero again and again while a transfer has steps left.
            for _ in 0..<64 where http1?.isDue(uptime) == true || http2?.isDue(uptime) == true {
                http1?.actIfDue(uptime: uptime)
                http2?.actIfDue(uptime: uptime)
            }
            for old in retired { old.actIfDue(uptime: uptime) }
            sweepIfDue()
            finishDone()
            checkDeadlines()
            endAnsweredUploads()
            // Those that are let go may end at once.
            while releaseWaiters() { finishDone() }
            trimConnections()
            closeIdle()
            closeRetired()
        }
    }
#endif
