// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import CCurl

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The event loop of one thread, on which every call of libcurl is made.
///
/// It waits in `epoll_wait` for sockets, the mailbox and deadlines. Its state is not shared:
/// other threads post to its mailbox, and it reports to them through their sinks. It is not checked
/// for exclusive access either, because a check costs more than the access.
final class CurlLoop {
    enum Ending {
        /// A call of users' code has blocked, and another thread runs the loop.
        case replaced
        /// This is a copy in a forked child, on the thread that has forked in a call.
        case forked
        case shutDown
        case exit
    }

    /// How long the calls of a round keep the loop from its sockets, in nanoseconds, however many
    /// loaders have outcomes; the last one may last longer, until it is taken for blocked.
    private static let maxCallTime: Int64 = 1_000_000

    let mailbox: LoopMailbox
    let seat: LoopSeat
    /// The calls of users' code that are made after this round.
    let calls = RoundCalls()
    let library: CurlLibrary
    /// The time of the last wake-up.
    @exclusivity(unchecked) var now = LoopClock.now
    /// The time of the last wake-up on libcurl's clock, which stops while the machine sleeps.
    @exclusivity(unchecked) var uptime = LoopClock.uptime
    let poll: EventPoll
    let events: UnsafeMutableBufferPointer<epoll_event>
    /// The output buffer of one decoding step.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    @exclusivity(unchecked) var sockets: [SocketEntry] = []
    /// The number of open sockets of connections.
    @exclusivity(unchecked) var openSockets = 0
    let idle: IdleConnections
    /// When idle connections are closed; `.max` while transfers run.
    @exclusivity(unchecked) var idleDeadline = Int64.max
    /// When unused connections are checked.
    @exclusivity(unchecked) var sweepDeadline = Int64.max
    /// The multi handles for attempts over HTTP/1.1, and that for attempts that offer HTTP/2.
    ///
    /// They are separate because of the quirk in `CurlLoop+BusyConnections`.
    @exclusivity(unchecked) var http1: SerialMultis<CurlMulti, ConnectionPlace>
    @exclusivity(unchecked) var http2: CurlMulti?
    @exclusivity(unchecked) var routes: RouteTable<ObjectIdentifier>
    /// The open connections of HTTP/2 that attempts may join, by descriptor.
    @exclusivity(unchecked) var http2Sockets: [Int32: HTTP2Socket] = [:]
    /// The last stream that each open connection of HTTP/2 processes, where its peer has sent a
    /// GOAWAY.
    @exclusivity(unchecked) var lastStreams: [ConnectionName: UInt32] = [:]
    /// The descriptors of the open connections, where connections are checked before they are
    /// used again.
    @exclusivity(unchecked) var descriptors: [ConnectionName: Int32] = [:]
    /// The attempt that last sent on each connection of HTTP/1.1.
    @exclusivity(unchecked) var serialUsers: [ConnectionName: CurlTransfer] = [:]
    /// How the connections to each proxy were opened.
    @exclusivity(unchecked) var proxyUses: [Origin: ProxyUse] = [:]
    /// Multi handles that get no further attempts, and whose transfers still run.
    @exclusivity(unchecked) var retired: [CurlMulti] = []
    @exclusivity(unchecked) var running: [ObjectIdentifier: CurlTransfer] = [:]
    /// Transfers with pieces of a body that are not handed on yet.
    @exclusivity(unchecked) var collecting: [CurlTransfer] = []
    /// Transfers whose upload waits for its file or stream.
    @exclusivity(unchecked) var awaitingBodies: [ObjectIdentifier: CurlTransfer] = [:]
    /// Transfers over HTTP/2 whose upload is not complete, and whose response is.
    @exclusivity(unchecked) var answeredUploads: [ObjectIdentifier: CurlTransfer] = [:]
    /// When transfers with a response and an unfinished upload are polled next.
    @exclusivity(unchecked) var nextAnsweredUploadPoll: Int64 = 0
    /// The running transfer for which each shared connection was opened.
    @exclusivity(unchecked) var connectionOwners: [ConnectionName: CurlTransfer] = [:]
    @exclusivity(unchecked) var pool = TransferPool()
    /// The number of resets; handles of attempts that began before the last one are not kept.
    @exclusivity(unchecked) var resets = 0
    @exclusivity(unchecked) var names: NameCache
    let resolver: NameResolver
    let readers: BodyReaders
    /// No deadline of a transfer is before this instant.
    @exclusivity(unchecked) var nextCheck = Int64.max
    @exclusivity(unchecked) var lastRemoteAddress = ""
    @exclusivity(unchecked) var spareCloseNotifyFlags: [UnsafeMutablePointer<Int32>] = []
    /// When surplus idle connections are shut down; `.max` while there are none.
    @exclusivity(unchecked) var nextTrim = Int64.max
    /// When multi handles that are not needed are retired; `.max` while there is only one.
    @exclusivity(unchecked) var nextRetirement = Int64.max
    /// The number of rounds since the loop looked for events, because of messages.
    @exclusivity(unchecked) var roundsAwake = 0
    /// When the loop last looked for events.
    @exclusivity(unchecked) var lastLook = LoopClock.now
    private let sleep: SleepWatch
    /// How long the machine has slept, as of the last wake-up.
    @exclusivity(unchecked) private var slept: Int64
    @exclusivity(unchecked) private var messages: [LoopMessage] = []
    @exclusivity(unchecked) private var isRetiring = false
    @exclusivity(unchecked) private var ending: Ending?

    init(
        library: CurlLibrary, mailbox: LoopMailbox, poll: EventPoll, setup: LoopSetup,
        seat: LoopSeat = LoopSeat()
    ) {
        self.seat = seat
        self.library = library.lacking(setup.lacking)
        self.mailbox = mailbox
        self.poll = poll
        idle = setup.idle
        http1 = SerialMultis(capacity: setup.idle.handleCapacity)
        names = NameCache(lifetimes: setup.names)
        resolver = NameResolver(workerLimit: setup.lookupLimit, lookup: setup.lookup)
        readers = setup.readers
        sleep = setup.sleep
        slept = setup.sleep.slept?() ?? LoopClock.now &- LoopClock.uptime
        routes = RouteTable(
            maximumAge: setup.idle.maximumAge.wholeNanoseconds,
            memory: setup.idle.protocolMemory.wholeNanoseconds,
            leaderTime: setup.idle.leaderTime.wholeNanoseconds)
        events = .allocate(capacity: 256)
    }

    deinit {
        events.deallocate()
        scratch.deallocate()
        for notice in spareCloseNotifyFlags { notice.deallocate() }
    }

    var epoll: Int32 { poll.descriptor }

    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func from(_ context: UnsafeMutableRawPointer?) -> CurlLoop? {
        context.map { Unmanaged<CurlLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs until it is told to end, and returns why.
    func run() -> Ending {
        calls.enter()
        defer { calls.leave() }
        while true {
            takeMessages()
            if let ending { return ending }
            if mailbox.isForked { break }
            advance()
            // A call in the middle of a step may have forked too.
            guard makeCalls(), !mailbox.isForked else { break }
            if isRetiring, running.isEmpty { return .shutDown }
            waitForEvents()
        }
        return mailbox.isForked ? .forked : .replaced
    }

    /// Prepares for another thread to run the loop, which does so since a call blocks.
    func takeOver() {
        calls.followerLeads()
        // They have waited for as long as the call.
        calls.makeElsewhere()
        readClocks()
    }

    /// Reads the clocks, and drops the connections that were idle while the machine slept.
    ///
    /// In that time the peers and the middleboxes in between may have dropped them.
    func readClocks() {
        now = LoopClock.now
        uptime = LoopClock.uptime
        let before = slept
        slept = sleep.slept?() ?? now &- uptime
        if slept &- before >= SleepWatch.minimum { dropIdleConnections() }
    }

    /// Makes the calls of users' code; false when one has blocked, and another thread runs the loop.
    ///
    /// Nothing is added meanwhile, because no step of the loop runs.
    func makeCalls() -> Bool {
        guard !calls.isEmpty else { return true }
        calls.leave()
        let end = LoopClock.now &+ Self.maxCallTime
        while calls.hasFollower, let call = calls.popFirst() {
            let number = seat.beginCall()
            call()
            // Nothing of the loop may be touched without the seat, or in a forked child.
            guard !mailbox.isForked, seat.endCall(number) else { return false }
            if LoopClock.now >= end { break }
        }
        // No other thread could run the loop while one of these blocks, or the sockets have waited
        // long enough.
        calls.makeElsewhere()
        calls.enter()
        return true
    }

    private func takeMessages() {
        mailbox.take(into: &messages)
        for message in messages {
            // The job of a task may have forked.
            if mailbox.isForked { return }
            // Messages behind the one that ends the loop are refused.
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
        case .run(let job): job.run()
        case .echo(let answer): answer()
        case .reset(let done):
            reset()
            done()
        case .retire: isRetiring = true
        case .shutDown: ending = .shutDown
        case .exit: ending = .exit
        }
    }

    /// Lets libcurl act on its expired timers, and ends the transfers that are due.
    private func advance() {
        // libcurl sets its timer to zero repeatedly while a transfer has steps left.
        for _ in 0..<64 {
            guard http1.isDue(uptime) || http2?.isDue(uptime) == true else { break }
            for multi in http1.all { multi.actIfDue(uptime: uptime) }
            http2?.actIfDue(uptime: uptime)
        }
        for old in retired { old.actIfDue(uptime: uptime) }
        sweepIfDue()
        // After it, because it lets libcurl act, which may read pieces too.
        handOnCollected()
        finishDone()
        checkDeadlines()
        finishAnsweredUploads()
        // An attempt that was begun or is released here may have ended at once.
        while finishDone() || releaseWaiters() {}
        trimConnections()
        retireSurplus()
        closeIdle()
        closeRetired()
    }
}
