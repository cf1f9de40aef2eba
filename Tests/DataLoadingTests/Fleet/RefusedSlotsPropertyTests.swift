// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Testing

extension LongComputations {
    /// A store that fails in random ways, of some keys and of all, in virtual time.
    @Suite struct RefusedSlotsPropertyTests {
        @Test func `no load waits for a store that does not answer, however it fails`() {
            property(cases: min(propertyCases, 200)) { generator in
                var scene = RefusingScene(&generator)
                return scene.run(&generator)
            }
        }
    }
}

/// A daemon with two keys, and a store that may be silent, refuse a key, or be gone.
private struct RefusingScene {
    private enum Reply {
        case lease(RuleKey, UInt64, requested: Int, isGiven: Bool)
        case heartbeat(UInt64, isGiven: Bool)
    }

    /// The loads of a key, of which one waits at a time.
    private struct Lane {
        /// How often there is a load, in steps.
        var pace: Int
        var waitsSince: Instant?
        /// When it asks again by itself; nil while it waits for a change.
        var asksAt: Instant?
        var lastOwn = Instant(nanoseconds: 0)
    }

    private static let rate = 10.0
    /// The patience, an answer that is late, the pauses of a store that is found again, and a share.
    private static let longestWait = Duration.seconds(3)

    private var shared = SharedRates(policy: .share(for: nil), window: ms(100), expectedMembers: 2)
    private var now = Instant(nanoseconds: 1_000_000_000)
    private var lanes: [RuleKey: Lane] = [:]
    private var replies: [(at: Instant, reply: Reply)] = []
    private var isGone = false
    private var refused: Set<RuleKey> = []
    private var silent: Set<RuleKey> = []
    private let keys: [RuleKey]

    init(_ generator: inout some RandomNumberGenerator) {
        keys = ["a.test", "b.test"].compactMap {
            RuleKey(QuotaKey(scheme: "http", host: $0, port: 80))
        }
        for key in keys { lanes[key] = Lane(pace: .random(in: 1...200, using: &generator)) }
        shared.orderHeartbeat()
    }

    /// Runs for half a minute; returns what is wrong.
    mutating func run(_ generator: inout some RandomNumberGenerator) -> String? {
        for step in 0..<6_000 {
            now = now + ms(5)
            if Int.random(in: 0..<300, using: &generator) == 0 { change(&generator) }
            deliver(
                chance: .random(in: 0..<1, using: &generator),
                firstStart: ms(.random(in: 0...600, using: &generator)))
            tell(shared.wake(at: now, chance: .random(in: 0..<1, using: &generator)))
            for key in keys {
                if step % (lanes[key]?.pace ?? 1) == 0, lanes[key]?.waitsSince == nil { ask(key) }
                if let instant = lanes[key]?.asksAt, instant <= now { ask(key) }
                if let since = lanes[key]?.waitsSince, now - since > Self.longestWait {
                    return "\(key) waits at step \(step): \(String(describing: shared.keys[key]))"
                }
            }
            carryOut(&generator)
        }
        return nil
    }

    private mutating func change(_ generator: inout some RandomNumberGenerator) {
        isGone = Int.random(in: 0..<5, using: &generator) == 0
        refused = Set(keys.filter { _ in Int.random(in: 0..<3, using: &generator) == 0 })
        silent = Set(keys.filter { _ in Int.random(in: 0..<5, using: &generator) == 0 })
    }

    private mutating func ask(_ key: RuleKey) {
        let answer = shared.reserve(
            key, requestsPerSecond: Self.rate, notBefore: nil, at: now)
        let since = lanes[key]?.waitsSince ?? now
        lanes[key]?.waitsSince = since
        switch answer {
        case .granted: started(key)
        case .wait(let instant): lanes[key]?.asksAt = instant
        case .paused: lanes[key]?.asksAt = nil
        case .ownShare(let share):
            let pace = Duration.seconds(Double(share.daemons) / Self.rate)
            let start = max(share.begin, (lanes[key]?.lastOwn ?? now) + pace)
            let fits = share.count(from: max(now, start), of: Self.rate) > 0
            guard fits, start <= now else {
                let look = share.line?.nextLook ?? start
                lanes[key]?.asksAt = fits ? min(start, look) : look
                return
            }
            lanes[key]?.lastOwn = now
            started(key)
        }
    }

    private mutating func started(_ key: RuleKey) {
        lanes[key]?.waitsSince = nil
        lanes[key]?.asksAt = nil
    }

    private mutating func askAgain(_ keys: [RuleKey]) {
        for key in keys where lanes[key]?.waitsSince != nil { ask(key) }
    }

    private mutating func tell(_ news: AskAgain) {
        askAgain(news.everybody ? keys : news.keys)
    }

    private mutating func carryOut(_ generator: inout some RandomNumberGenerator) {
        for order in shared.takeOrders() {
            let trip = ms(.random(in: 1...30, using: &generator))
            switch order {
            case .lease(let key):
                guard let rule = try? RateRule(requestsPerSecond: Self.rate, burst: 1) else {
                    return
                }
                shared.prepare(key)
                let waits = lanes[key]?.waitsSince != nil
                let demand = SlotDemand(count: waits ? 1 : 0, latest: .distantFuture)
                guard let begun = shared.begin(key, rule, demand, at: now) else { continue }
                let isSilent = isGone || silent.contains(key)
                let delay = isSilent ? ms(.random(in: 240...2_000, using: &generator)) : trip
                let reply = Reply.lease(
                    key, begun.number, requested: begun.request.count,
                    isGiven: !isSilent && !refused.contains(key))
                replies.append((now + delay, reply))
            case .heartbeat:
                guard let number = shared.beginHeartbeat(at: now) else { continue }
                replies.append((now + trip, .heartbeat(number, isGiven: !isGone)))
            case .close: break
            }
        }
    }

    private mutating func deliver(chance: Double, firstStart: Duration) {
        let due = replies.filter { $0.at <= now }.map(\.reply)
        replies.removeAll { $0.at <= now }
        for reply in due {
            switch reply {
            case .lease(let key, let number, let requested, isGiven: true):
                let lease = QuotaLease(
                    count: requested, firstStart: firstStart, interval: ms(100), lead: ms(100),
                    gate: .zero)
                let news = shared.answered(key, number, lease, at: now)
                if news.isReturn { askAgain(keys) } else if news.isChange { askAgain([key]) }
            case .lease(let key, let number, _, isGiven: false):
                tell(shared.failed(key, number, at: now, chance: chance))
            case .heartbeat(let number, isGiven: true):
                let view = FleetView(present: 2, known: 2)
                let isReturn = shared.heartbeatAnswered(number, view, at: now, chance: chance)
                if isReturn { askAgain(keys) }
            case .heartbeat(let number, isGiven: false):
                shared.heartbeatFailed(number, at: now, chance: chance)
            }
        }
    }
}
