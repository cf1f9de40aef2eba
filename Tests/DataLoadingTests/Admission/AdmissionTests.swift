// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Connection slots have a maximum for each origin and in all, fixed when the service is made.
@Suite struct AdmissionTests {
    @Test func `a service runs as many attempts as its limits allow, and never one more`() {
        let bed = TestBed { configuration in
            configuration.limits.perOrigin = 3
            configuration.limits.total = 5
        }
        let hosts = ["http://a.test", "http://b.test", "http://c.test"]
        for index in 0..<30 { bed.loader.perform(.make("/", host: hosts[index % 3])) }
        bed.settle()
        var running = bed.transport.attempts
        for left in stride(from: 30, to: 0, by: -1) {
            #expect(running.count == min(5, left))
            let perHost = Dictionary(grouping: running) { $0.request.url.host() }
            #expect(perHost.allSatisfy { $0.value.count <= 3 })
            let ended = running.removeFirst()
            let before = bed.transport.attempts.count
            ended.respond(status: 200)
            bed.settle()
            running += bed.transport.attempts.dropFirst(before)
        }
        #expect(bed.delegate.events.count == 30)
        bed.expectNothingLeft()
    }

    @Test func `a load that waits for a slot can be cancelled, and another one gets the slot`() {
        let bed = TestBed { $0.limits.perOrigin = 2 }
        let tokens = (0..<4).map { bed.loader.perform(.make("/\($0)")) }
        tokens[2].cancel()
        bed.settle()
        #expect(bed.starts.map(\.path) == ["/0", "/1"])
        #expect(bed.error == .cancelled)
        bed.transport.attempts[0].respond(status: 200)
        bed.settle()
        #expect(bed.starts.map(\.path) == ["/0", "/1", "/3"])
    }

    @Test func `a service with a limit of zero sends nothing, and its loads end at once`() {
        let bed = TestBed { $0.limits.total = 0 }
        bed.loader.perform(.make { $0.timeout = .seconds(9) })
        #expect(bed.error?.name == "invalid_configuration")
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `a slot that another origin frees goes to the load that waited longest`() {
        let bench = AdmissionBench(perOrigin: 1, total: 2)
        let a = bench.enter("a")
        let b = bench.enter("b")
        let waitingB = bench.enter("b")
        let waitingC = bench.enter("c")
        bench.leave(b)
        #expect(bench.isRunning(waitingC))
        #expect(!bench.isRunning(waitingB))
        bench.leave(a)
        #expect(bench.isRunning(waitingB))
    }

    @Test func `an origin that never answers holds no more than its own slots`() {
        let bench = AdmissionBench(perOrigin: 8, total: 64)
        for _ in 0..<200 { _ = bench.enter("dead") }
        let live = (0..<56).map { bench.enter("live\($0)") }
        #expect(live.allSatisfy { bench.isRunning($0) })
        #expect(bench.admission.load.running == 64)
        let late = bench.enter("late")
        bench.leave(live[0])
        #expect(bench.isRunning(late))
    }

    @Test func `origins take turns when all slots are taken`() {
        let bench = AdmissionBench(perOrigin: 2, total: 2)
        var running = [bench.enter("x"), bench.enter("x")]
        let waiting = (0..<3).map { round in ["a", "b", "c"].map { (round, bench.enter($0)) } }
        var order: [String] = []
        for _ in 0..<9 {
            let before = Set(bench.running)
            bench.leave(running.removeFirst())
            guard let next = bench.running.first(where: { !before.contains($0) }) else { break }
            running.append(next)
            order.append(bench.origin(of: next))
        }
        #expect(waiting.count == 3)
        #expect(order == ["a", "b", "c", "a", "b", "c", "a", "b", "c"])
    }

    @Test func `a load is refused at once when the queue has no room for it`() {
        let bench = AdmissionBench(perOrigin: 1, total: 1, queue: 2)
        _ = bench.enter("a")
        _ = bench.enter("a")
        _ = bench.enter("b")
        #expect(bench.refusal(of: bench.enter("a")) == .overloaded)
        #expect(bench.refusal(of: bench.enter("c")) == .overloaded)
    }

    @Test func `limits of zero start no load, and a load that leaves the queue is forgotten`() {
        for (perOrigin, total) in [(0, 4), (4, 0), (-1, -1)] {
            let bench = AdmissionBench(perOrigin: perOrigin, total: total)
            let load = bench.enter("a")
            #expect(!bench.isRunning(load))
            bench.withdraw(load)
            #expect(bench.admission.isIdle)
        }
    }

    @Test func `a late withdrawal of a ticket does not take the place of another load`() {
        let bench = AdmissionBench(perOrigin: 1, total: 1)
        let first = bench.enter("a")
        let second = bench.enter("a")
        bench.leave(first)
        #expect(bench.isRunning(second))
        let third = bench.enter("a")
        // The load is cancelled after it was admitted but before it was told so.
        #expect(!bench.withdraw(second))
        bench.leave(second)
        #expect(bench.isRunning(third))
    }

    @Test func `no slot that a waiting load could use stays free under random operations`() {
        property(cases: 400) { generator in
            let perOrigin = Int.random(in: 1...3, using: &generator)
            let bench = AdmissionBench(
                perOrigin: perOrigin, total: Int.random(in: 1...5, using: &generator))
            for _ in 0..<80 {
                switch Int.random(in: 0..<8, using: &generator) {
                case 0..<4:
                    let origin = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
                    let part = [nil, "p", "q"].randomElement(using: &generator) ?? nil
                    _ = bench.enter(origin, part: part)
                case 4, 5:
                    if let load = bench.running.randomElement(using: &generator) {
                        bench.leave(load)
                    }
                case 6:
                    if let load = bench.waiting.randomElement(using: &generator) {
                        bench.withdraw(load)
                    }
                default:
                    // A load that already runs or has left: a withdrawal that comes too late.
                    if let load = bench.everybody.randomElement(using: &generator),
                        !bench.waiting.contains(load), bench.withdraw(load)
                    {
                        return "took the place of another"
                    }
                }
                if let fault = bench.fault { return fault }
            }
            while let load = bench.running.first {
                bench.leave(load)
                if let fault = bench.fault { return fault }
            }
            return bench.admission.isIdle ? nil : "something is left"
        }
    }
}

/// An admission without rates, with every load that entered it; used on one thread.
private final class AdmissionBench {
    private final class Load: Waiting, Sendable {
        let isAdmitted = Locked(false)

        func admitted(epoch: Int) { isAdmitted.withLock { $0 = true } }
        func mustAskAgain(epoch: Int) {}
        func refused(epoch: Int, _ error: DataLoaderError) {}
        var isShared: Bool { false }
        let deadlines = (earliest: Instant.distantFuture, latest: Instant.distantFuture)
        func waits(for wait: Duration?) {}
    }

    private struct Entry {
        let origin: Origin
        let load: Load
        let answer: Admission.Answer
        var isGone = false
    }

    let admission: Admission
    private let limits: Limits
    private let clock = ManualClock()
    private let limiter = RateLimiter(defaultRequestsPerSecond: nil)
    private var entries: [Entry] = []

    init(perOrigin: Int, total: Int, queue: Int = 1_000) {
        var limits = Limits()
        limits.perOrigin = perOrigin
        limits.total = total
        limits.queue = queue
        self.limits = limits
        limiter.adopt(clock.timekeeper)
        admission = Admission(
            limits: limits, limiter: limiter, timerQueue: TimerQueue(timekeeper: clock.timekeeper))
    }

    deinit {
        admission.close()
    }

    func enter(_ host: String, part: String? = nil) -> Int {
        let origin = Origin(isSecure: false, host: host, port: 80)
        let load = Load()
        let answer = admission.enter(
            Admission.Application(
                candidate: Admission.Candidate(waiting: load, epoch: 1, deadline: nil),
                key: RuleKey(origin: origin, pathComponent: part.map { Substring($0) }),
                origin: origin, loader: ObjectIdentifier(load), priority: .normal))
        entries.append(Entry(origin: origin, load: load, answer: answer))
        return entries.count - 1
    }

    func leave(_ index: Int) {
        entries[index].isGone = true
        admission.leave(entries[index].origin)
    }

    @discardableResult func withdraw(_ index: Int) -> Bool {
        guard case .queued(let ticket) = entries[index].answer, admission.withdraw(ticket) else {
            return false
        }
        entries[index].isGone = true
        return true
    }

    var everybody: Range<Int> { entries.indices }

    var running: [Int] { entries.indices.filter { isRunning($0) } }

    var waiting: [Int] {
        entries.indices.filter { index in
            guard case .queued = entries[index].answer else { return false }
            return !entries[index].isGone && !isRunning(index)
        }
    }

    func isRunning(_ index: Int) -> Bool {
        let entry = entries[index]
        guard !entry.isGone else { return false }
        if case .admitted = entry.answer { return true }
        return entry.load.isAdmitted.withLock { $0 }
    }

    func refusal(of index: Int) -> DataLoaderError? {
        if case .refused(let error) = entries[index].answer { return error }
        return nil
    }

    func origin(of index: Int) -> String { entries[index].origin.host }

    /// What is wrong: too many running loads, wrong counts, or a load that waits needlessly.
    var fault: String? {
        let running = running
        if running.count > limits.total { return "too many in all" }
        if admission.load != (waiting.count, running.count) { return "counts" }
        let perOrigin = Dictionary(grouping: running) { entries[$0].origin }
        if perOrigin.values.contains(where: { $0.count > limits.perOrigin }) { return "too many" }
        guard running.count < limits.total else { return nil }
        let idle = waiting.first {
            perOrigin[entries[$0].origin, default: []].count < limits.perOrigin
        }
        return idle.map { "load \($0) could go" }
    }
}
