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
        case deadline, cancel, reset, take, pauseIsOver
    }

    struct Player {
        var machine: LoadMachine
        /// What the machine has asked for and was not told yet.
        var questions: [LoadAction] = []
        var attempts: [PlayedAttempt] = []
        var deadlineIsOver = false
        var announcements = 0, deliveries = 0, reports = 0
        var pauses: [Int] = []
        /// Retries that were paid for, given back, and begun.
        var costs = 0, refunds = 0, begun = 0
        var hasPaused = false
        var outcome: DataLoaderError??
    }

    struct PlayedAttempt {
        let context: AttemptContext
        var hasHead = false, hasBytes = false, isOver = false, isCancelled = false
    }

    static let instant = Instant(nanoseconds: 0)

    private(set) var players: [Player]
    private(set) var freeSlots = 1
    private(set) var faults: [String] = []
    private let bed: TestBed
    private let loads: [Load]

    init(_ bed: TestBed) {
        self.bed = bed
        loads = (0..<2).map { _ in
            Load(
                .make { $0.maximumRetryCount = 1 }, context: bed.factory.context,
                registry: LoadRegistry(), end: TaskEnd(queue: bed.loader.queue))
        }
        players = (0..<2).map { _ in
            let request = DataLoaderRequest.make { $0.maximumRetryCount = 1 }
            let traits = LoadTraits(
                request: request, begun: Self.instant, deadline: Self.instant + .seconds(60),
                delivery: .whole, isAuthorised: true, hasUsersPolicy: false,
                reportsProgress: false, bodyLimit: 1_000, streamLimit: .max)
            return Player(machine: LoadMachine(LoadFacts(traits, base: request)))
        }
    }

    /// Whether two worlds go on in the same way.
    var digest: String {
        players.map { player in
            let stage = player.machine.stateName
            let questions = player.questions.map { "\($0)".prefix { $0 != "(" } }
            let attempts = player.attempts.map {
                "\($0.hasHead)\($0.hasBytes)\($0.isOver)\($0.isCancelled)"
            }
            return "\(stage) \(questions) \(attempts) \(player.deadlineIsOver) "
                + "\(player.announcements) \(player.deliveries) \(player.reports) "
                + "\(player.pauses.count) \(player.machine.facts.retries) "
                + "\(player.machine.facts.triedAddresses.count) \(player.outcome.debugDescription)"
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
            if case .apply = question, freeSlots == 0 { continue }
            steps += (0..<answers(question)).map { .answer(number, $0) }
        }
        for (number, attempt) in player.attempts.enumerated() where !attempt.isOver {
            if !attempt.hasHead {
                steps += [.head(number, status: 200), .head(number, status: 503)]
                steps += [.failed(number, isWritten: false), .failed(number, isWritten: true)]
            } else {
                if !attempt.hasBytes { steps.append(.bytes(number)) }
                steps += [.end(number), .failed(number, isWritten: true)]
            }
        }
        if !player.pauses.isEmpty { steps.append(.pauseIsOver) }
        if !player.deadlineIsOver { steps.append(.deadline) }
        if player.announcements > 0, player.deliveries == 0 { steps.append(.take) }
        return steps + [.cancel, .reset]
    }

    /// How many answers a question has.
    private func answers(_ question: LoadAction) -> Int {
        switch question {
        case .authorise, .apply, .judge: 2
        case .judgeFailure(_, _, let holdsSlot, _): holdsSlot ? 3 : 2
        default: 1
        }
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
        case .pauseIsOver:
            handle(.pauseIsOver(epoch: players[index].pauses.removeFirst()), index)
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
                case .answer, .end, .pauseIsOver: return (index, step)
                case .failed(_, isWritten: true): return (index, step)
                default: continue
                }
            }
        }
        return nil
    }

    private mutating func deliver(_ index: Int) {
        guard let response = players[index].machine.take() else {
            return faults.append("an announced outcome cannot be taken")
        }
        players[index].deliveries += 1
        players[index].outcome = .some(response.error)
        if players[index].machine.take() != nil { faults.append("taken twice") }
        handle(.handedOver(retryAfter: nil), index)
    }

    private mutating func end(_ number: Int, _ failure: TransportFailure?, _ index: Int) {
        players[index].attempts[number].isOver = true
        let context = players[index].attempts[number].context
        handle(.ended(context, TransportReport(), failure), index)
    }

    private mutating func answer(_ question: LoadAction, _ choice: Int, _ index: Int) {
        switch question {
        case .authorise(let epoch):
            let chain = try? AuthoriserChain(.make(), [])
            guard choice == 0, let chain else {
                return handle(.failed(.cannotAuthenticate(reason: "no"), epoch: epoch), index)
            }
            handle(.authorised(chain, epoch: epoch), index)
        case .apply(let sending, _, let epoch):
            guard choice == 0 else { return handle(.failed(.overloaded, epoch: epoch), index) }
            freeSlots -= 1
            admit(sending, .name, epoch, index)
        case .dial(let sending, let candidate, let epoch):
            admit(sending, candidate ?? .name, epoch, index)
        case .judge(_, let context, _):
            let retry = NextStep.retry(after: .seconds(1), cost: .transient)
            players[index].costs += choice == 1 ? 1 : 0
            handle(.judged(choice == 0 ? .deliver(nil) : .discard(then: retry), context), index)
        case .judgeFailure(let failure, _, _, let epoch):
            let nexts: [NextStep] = [
                .finish(failure.error), .retry(after: .seconds(1), cost: .transient),
                .dial(.address("10.0.0.1")),
            ]
            players[index].costs += choice == 1 ? 1 : 0
            handle(.decided(nexts[choice], epoch: epoch), index)
        case .setTimer(_, let epoch):
            players[index].pauses.append(epoch)
        default:
            faults.append("no answer to \(question)")
        }
    }

    private mutating func admit(
        _ sending: Sending, _ candidate: HostResolver.Candidate, _ epoch: Int, _ index: Int
    ) {
        let context = AttemptContext(
            load: loads[index], origin: sending.target.origin, candidate: candidate,
            request: sending.transportRequest(to: candidate, bed.service.runtime),
            begun: Self.instant)
        handle(.admitted(context, mayAskNow: true, epoch: epoch), index)
    }

    private mutating func handle(_ event: LoadEvent, _ index: Int) {
        let wasTaken = players[index].deliveries > 0
        players[index].machine.handle(event, at: Self.instant).forEach { action in
            perform(action, index, isLate: wasTaken)
        }
    }

    private mutating func perform(_ action: LoadAction, _ index: Int, isLate: Bool) {
        switch action {
        case .authorise, .apply, .dial, .judge, .judgeFailure, .setTimer:
            if isLate { faults.append("\(action) after the end") }
            if case .setTimer = action { players[index].hasPaused = true }
            players[index].questions.append(action)
        case .start(let context):
            if isLate { faults.append("sent after the end") }
            players[index].begun += players[index].hasPaused ? 1 : 0
            players[index].hasPaused = false
            players[index].attempts.append(PlayedAttempt(context: context))
        case .leave:
            freeSlots += 1
            if freeSlots > 1 { faults.append("a slot was given back twice") }
        case .withdrawAttempt(let context):
            handle(.withdrawn(context, mayHaveSent: true), index)
        case .takeHeld(let context): handle(.takeHeld(context), index)
        case .announceOutcome: players[index].announcements += 1
        case .report:
            players[index].reports += 1
            if players[index].attempts.contains(where: { !$0.isOver }) {
                faults.append("reported before its last attempt was over")
            }
        case .refund: players[index].refunds += 1
        default: break
        }
    }
}
