// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation

/// Two loads as their machines see them, with one slot for both, so that every order of events can be tried.
struct MachineWorld {
    /// What may happen next to one load.
    enum Step: Hashable {
        case answer(Int, Int)
        case head(Int, status: Int)
        case bytes(Int)
        case end(Int)
        case failed(Int, isWritten: Bool)
        case deadline, cancel, reset, take, timeIsOver
        /// A load in the queue gets a slot, or has to ask again.
        case grant, askAgain
        /// The load that is sent for several, of which this is one, ends.
        case carrierEnds(isSuccess: Bool)
    }

    /// What the loads are.
    enum Form: CaseIterable {
        case whole
        /// With a retry policy of the user's, which is asked about every head and failure.
        case askingPolicy
        case chunks
        /// With a cache, which has nothing or a response that is fresh, stale or to be validated.
        case cached
        case cachedChunks
        /// With a request that other loads share.
        case sharing
        /// Into a file whose part an earlier load may have left.
        case resumedFile

        var isCached: Bool { self == .cached || self == .cachedChunks }
        var isInChunks: Bool { self == .chunks || self == .cachedChunks }

        fileprivate var delivery: BodyDelivery {
            switch self {
            case .whole, .askingPolicy, .cached, .sharing: .whole
            case .chunks, .cachedChunks: .chunks
            case .resumedFile: .restartable
            }
        }
    }

    struct Player {
        var machine: LoadMachine
        /// What the machine has asked for and was not told yet.
        var questions: [LoadAction] = []
        var attempts: [PlayedAttempt] = []
        var deadlineIsOver = false
        var announcements = 0, deliveries = 0, reports = 0
        var pauses: [Int] = []
        /// The epoch of its place in the queue, while it has one.
        var queued: Int?
        /// Retries that were paid for, given back, and begun.
        var costs = 0, refunds = 0, begun = 0
        var hasPaused = false
        /// The epoch in which it follows another load, while it does.
        var following: Int?
        /// How often it has followed one, got the outcome of one, and left one.
        var joins = 0, served = 0, leaves = 0
        var outcome: DataLoaderError??
    }

    struct PlayedAttempt {
        let context: AttemptSink
        var hasHead = false, hasBytes = false, isOver = false, isCancelled = false
    }

    static let instant = Instant(nanoseconds: 0)

    let form: Form
    let bed: TestBed
    let loads: [Load]
    let carrier: Carrier
    var players: [Player]
    var freeSlots = 1
    var faults: [String] = []

    init(_ bed: TestBed, _ form: Form) {
        self.bed = bed
        self.form = form
        loads = (0..<2).map { _ in
            Load(
                .make { $0.maximumRetryCount = 1 }, context: bed.factory.context,
                registry: LoadRegistry(), end: TaskEnd(queue: bed.loader.queue),
                isCounted: true)
        }
        carrier = Carrier(
            .named("shared"), in: CarrierTable(), for: LoadRegistry(),
            queue: bed.service.runtime.queue)
        players = (0..<2).map { _ in
            let request = DataLoaderRequest.make {
                $0.maximumRetryCount = 1
                $0.chunks = form.isInChunks
                guard form == .resumedFile else { return }
                $0.responseSink = .file(
                    URL(fileURLWithPath: "/file"), resumesAcrossRestarts: true)
            }
            let traits = LoadTraits(
                request: request, begun: Self.instant, deadline: Self.instant + .seconds(60),
                delivery: form.delivery, isForAuthoriser: false, isAuthorised: true,
                isIntercepted: false,
                hasUsersPolicy: form == .askingPolicy,
                reportsProgress: false, hasShortIdleTimeout: false, hasUsualPatience: true,
                mayShare: form == .sharing,
                tellsHeads: false, usesCache: form.isCached, keepLimit: 1_000,
                bodyLimit: 1_000,
                streamLimit: .max)
            return Player(machine: LoadMachine(LoadFacts(traits, base: request, number: 0)))
        }
    }

    /// Whether two worlds continue in the same way.
    var digest: String {
        players.map { player in
            let stage = player.machine.stateName
            let questions = player.questions.map { "\($0)".prefix { $0 != "(" } }
            let attempts = player.attempts.map {
                "\($0.hasHead)\($0.hasBytes)\($0.isOver)\($0.isCancelled)"
            }
            return "\(stage) \(questions) \(attempts) \(player.deadlineIsOver) "
                + "\(player.announcements) \(player.deliveries) \(player.reports) "
                + "\(player.pauses.count) \(player.queued != nil) \(player.machine.facts.retries) "
                + "\(player.machine.facts.hasDelivered) "
                + "\(player.machine.facts.triedAddresses.count) \(player.outcome.debugDescription) "
                + "\(player.following != nil) \(player.machine.facts.isPlaying) "
                + Self.digest(player.machine.facts.recalled)
        }.joined(separator: " | ") + " \(freeSlots)"
    }

    /// Lets go of the loads, which were never begun and so never end.
    func release() {
        for load in loads { load.token.unbind() }
    }

    mutating func begin() {
        for index in players.indices {
            guard let target = try? RequestTarget(text: "http://origin.test/") else { return }
            handle(.begin(.success(target), refusal: nil, deadline: nil), index)
        }
    }

    /// Everything that may happen to a load now.
    func steps(_ index: Int) -> [Step] {
        let player = players[index]
        var steps: [Step] = []
        for (number, question) in player.questions.enumerated() {
            steps += (0..<answers(question, index)).map { .answer(number, $0) }
        }
        for (number, attempt) in player.attempts.enumerated() where !attempt.isOver {
            if attempt.context.isStored, !attempt.hasHead {
                // Nothing but the disk can fail.
                steps += [.head(number, status: 200), .failed(number, isWritten: false)]
            } else if !attempt.hasHead {
                steps += [.head(number, status: 200), .head(number, status: 503)]
                steps += [.failed(number, isWritten: false), .failed(number, isWritten: true)]
            } else {
                if !attempt.hasBytes { steps.append(.bytes(number)) }
                steps += [.end(number), .failed(number, isWritten: true)]
            }
        }
        if !player.pauses.isEmpty { steps.append(.timeIsOver) }
        if player.queued != nil { steps += freeSlots > 0 ? [.grant, .askAgain] : [.askAgain] }
        if !player.deadlineIsOver { steps.append(.deadline) }
        if player.announcements > 0, player.deliveries == 0 { steps.append(.take) }
        if player.following != nil {
            steps += [.carrierEnds(isSuccess: true), .carrierEnds(isSuccess: false)]
        }
        return steps + [.cancel, .reset]
    }

    mutating func take(_ step: Step, _ index: Int) {
        switch step {
        case .answer(let number, let choice):
            let question = players[index].questions.remove(at: number)
            answer(question, choice, index)
        case .head(let number, let status):
            players[index].attempts[number].hasHead = true
            let head = ResponseHead(status: HTTPStatus(rawValue: status), headers: [:])
            handle(.head(head, players[index].attempts[number].context), index)
        case .bytes(let number):
            players[index].attempts[number].hasBytes = true
            handle(.bytes(Data([1]), players[index].attempts[number].context), index)
        case .end(let number): end(number, nil, index)
        case .failed(let number, let isWritten):
            let failure =
                isWritten
                ? TransportFailure(.connectionReset, sent: .written)
                : TransportFailure(.connectRefused, sent: .nothingWritten)
            end(number, failure, index)
        case .deadline:
            players[index].deadlineIsOver = true
            handle(.deadlineHasPassed, index)
        case .cancel: handle(.endFromOutside(.cancelled), index)
        case .reset: handle(.endFromOutside(.reset), index)
        case .take: deliver(index)
        case .timeIsOver:
            handle(.timeIsOver(epoch: players[index].pauses.removeFirst()), index)
        case .grant: grant(index)
        case .carrierEnds(let isSuccess): endCarrier(isSuccess: isSuccess, index)
        case .askAgain:
            guard let epoch = players[index].queued.take() else { return }
            handle(.mustApplyAgain(epoch: epoch), index)
        }
    }

    /// Brings every load to its end, in one order, and says what is wrong then.
    mutating func finish() -> [String] {
        for index in players.indices { take(.cancel, index) }
        for _ in 0..<100 {
            guard let (index, step) = nextStep() else { break }
            take(step, index)
        }
        for (index, player) in players.enumerated() {
            let name = "load \(index)"
            if player.announcements != 1 { faults.append("\(name): \(player.announcements) ends") }
            if player.deliveries != 1 { faults.append("\(name): \(player.deliveries) outcomes") }
            if player.reports != 1 { faults.append("\(name): \(player.reports) reports") }
            if player.costs != player.refunds + player.begun {
                faults.append("\(name): \(player.costs) retries paid, \(player.begun) begun")
            }
            if !player.questions.isEmpty { faults.append("\(name): \(player.questions)") }
            if player.joins != player.served + player.leaves {
                faults.append("\(name): \(player.joins) joins, \(player.leaves) leaves")
            }
        }
        if freeSlots != 1 { faults.append("\(freeSlots) slots") }
        return faults
    }

    private func nextStep() -> (Int, Step)? {
        for index in players.indices {
            let all = steps(index)
            if all.contains(.take) { return (index, .take) }
            for step in all {
                switch step {
                case .answer, .end, .timeIsOver, .grant: return (index, step)
                case .failed(_, isWritten: true): return (index, step)
                case .failed(let number, _) where players[index].attempts[number].context.isStored:
                    return (index, step)
                default: continue
                }
            }
        }
        return nil
    }

    private mutating func deliver(_ index: Int) {
        guard let (response, isFinal) = players[index].machine.take() else {
            return faults.append("an announced outcome cannot be taken")
        }
        players[index].deliveries += 1
        players[index].outcome = .some(response.error)
        if players[index].machine.take() != nil { faults.append("taken twice") }
        let isOver = players[index].machine.handedOver(retryAfter: nil)
        if isOver { report(index) }
        if response.error == nil, isFinal != isOver {
            faults.append("an outcome with an open attempt counts as what observers see")
        }
    }

    private mutating func end(_ number: Int, _ failure: TransportFailure?, _ index: Int) {
        players[index].attempts[number].isOver = true
        let context = players[index].attempts[number].context
        perform(index) {
            $0.ended(context, TransportReport(), failure, &$1, at: Self.instant)
        }
    }
}
