// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation

/// Performs what the machines ask for, in place of a service.
extension MachineWorld {
    private static let retry = NextStep.retry(after: .seconds(1), cost: .transient)

    /// How many answers a question has.
    func answers(_ question: LoadAction, _ index: Int) -> Int {
        switch question {
        // The last one is what is fresh and needs no transfer.
        case .recall: Self.decisions.count + 1
        case .share, .prepareSink: 3
        case .judge: 2 + storedVerdicts(index).count
        case .authorise, .askPolicy, .askForChunkSupport: 2
        case .apply: freeSlots > 0 ? 3 : 2
        case .judgeFailure(let failure, let facts, let holdsSlot, _):
            nextSteps(failure, facts, holdsSlot).count
        default: 1
        }
    }

    /// What may follow a failure.
    private func nextSteps(
        _ failure: TransportFailure, _ facts: LoadFacts, _ holdsSlot: Bool
    ) -> [NextStep] {
        var steps = [NextStep.finish(failure.error)]
        guard !facts.isFinal else { return steps }
        steps.append(Self.retry)
        if holdsSlot { steps.append(.dial(.address("10.0.0.1"))) }
        if form == .askingPolicy { steps.append(.askPolicy(failure, isSpared: false)) }
        return steps
    }

    private mutating func decide(_ next: NextStep, _ epoch: Int, _ index: Int) {
        players[index].costs += next.cost == nil ? 0 : 1
        handle(.decided(next, epoch: epoch), index)
    }

    /// Gives a slot to a load in the queue, whose address is chosen next.
    mutating func grant(_ index: Int) {
        guard let epoch = players[index].queued.take() else { return }
        guard let sending = players[index].machine.sending(epoch: epoch) else {
            return faults.append("a load that has left was in the queue")
        }
        freeSlots -= 1
        players[index].questions.append(.dial(sending, nil, epoch: epoch))
    }

    private func ticket(_ sending: Sending) -> Admission.Ticket {
        var queue = FairQueue<Admission.Candidate>()
        let place = queue.append(
            Admission.Candidate(waiting: loads[0], epoch: 0, deadline: nil),
            loader: ObjectIdentifier(bed), priority: .normal)
        let rule = bed.service.runtime.limiter.ruleKey(for: sending.target)
        return Admission.Ticket(key: LaneKey(rule: rule), lane: 0, place: place)
    }

    mutating func answer(_ question: LoadAction, _ choice: Int, _ index: Int) {
        switch question {
        case .recall(let epoch):
            guard let (_, target) = players[index].machine.recalling(epoch) else { return }
            guard choice < Self.decisions.count else { return answered(target, epoch, index) }
            recalled(Self.decisions[choice], target, epoch, index)
        case .play(let use, let target, let recalled, let epoch):
            play(use, target, recalled, epoch, index)
        case .share(_, let epoch): share(choice, epoch, index)
        case .authorise(let epoch):
            let chain = try? AuthoriserChain(.make(), [])
            guard choice == 0, let chain else {
                return handle(.failed(.cannotAuthenticate(reason: "no"), epoch: epoch), index)
            }
            handle(.authorised(chain, epoch: epoch), index)
        case .askForChunkSupport(let epoch):
            handle(.chunkSupport(choice == 0, epoch: epoch), index)
        case .prepareSink(let epoch):
            guard choice < 2 else {
                return handle(.failed(.responseSink(reason: "no"), epoch: epoch), index)
            }
            let part = StoredPart(
                count: 5, validator: .entityTag("\"a\""), length: 9, url: nil)
            handle(.sinkIsReady(choice == 0 ? nil : part, epoch: epoch), index)
        case .apply(let sending, _, let epoch):
            switch choice {
            case 0:
                players[index].queued = epoch
                handle(.queued(ticket(sending), epoch: epoch), index)
            case 1: handle(.failed(.overloaded, epoch: epoch), index)
            default:
                freeSlots -= 1
                admit(sending, .name, epoch, index)
            }
        case .dial(let sending, let candidate, let epoch):
            admit(sending, candidate ?? .name, epoch, index)
        case .judge(_, let context, _):
            let verdicts = [.deliver(nil), .discard(then: Self.retry)] + storedVerdicts(index)
            let verdict = verdicts[min(choice, verdicts.count - 1)]
            players[index].costs += verdict.cost == nil ? 0 : 1
            handle(.judged(verdict, context), index)
        case .judgeFailure(let failure, let facts, let holdsSlot, let epoch):
            decide(nextSteps(failure, facts, holdsSlot)[choice], epoch, index)
        case .askPolicy(let failure, _, let epoch):
            decide(choice == 0 ? .finish(failure.error) : Self.retry, epoch, index)
        case .setTimer(_, let epoch):
            players[index].pauses.append(epoch)
        default:
            faults.append("no answer to \(question)")
        }
    }

    private mutating func admit(
        _ sending: Sending, _ candidate: HostResolver.Candidate, _ epoch: Int, _ index: Int
    ) {
        let context = AttemptSink(
            load: loads[index], origin: sending.target.origin, candidate: candidate,
            request: sending.transportRequest(to: candidate, bed.service.runtime),
            begun: Self.instant)
        handle(.admitted(context, mayAskNow: true, epoch: epoch), index)
    }

    mutating func handle(_ event: LoadEvent, _ index: Int) {
        perform(index) { $0.handle(event, &$1, at: Self.instant) }
    }

    mutating func perform(
        _ index: Int, after event: (inout LoadMachine, inout LoadActionList) -> Void
    ) {
        let wasTaken = players[index].deliveries > 0
        var actions = LoadActionList()
        event(&players[index].machine, &actions)
        actions.drain { action in
            perform(action, index, isLate: wasTaken)
        }
    }

    mutating func report(_ index: Int) {
        players[index].reports += 1
        if players[index].attempts.contains(where: { !$0.isOver }) {
            faults.append("reported before its last attempt was over")
        }
    }

    private mutating func perform(_ action: LoadAction, _ index: Int, isLate: Bool) {
        switch action {
        case .authorise, .apply, .dial, .judge, .judgeFailure, .askPolicy, .askForChunkSupport,
            .prepareSink, .setTimer, .recall, .play, .share:
            if isLate { faults.append("\(action) after the end") }
            if case .setTimer = action { players[index].hasPaused = true }
            players[index].questions.append(action)
        case .start(let context):
            if isLate { faults.append("sent after the end") }
            // What is stored is no retry.
            if !context.isStored {
                players[index].begun += players[index].hasPaused ? 1 : 0
                players[index].hasPaused = false
            }
            players[index].attempts.append(PlayedAttempt(context: context))
        case .withdraw: players[index].queued = nil
        case .keep, .removeStored, .revalidate:
            if isLate { faults.append("\(action) after the end") }
        case .leaveCarrier: leaveCarrier(index)
        case .deliverHead, .deliver: if isLate { faults.append("delivered after the end") }
        case .leave, .handOn, .settle:
            freeSlots += 1
            if freeSlots > 1 { faults.append("a slot was given back twice") }
        case .withdrawAttempt(let context):
            handle(.withdrawn(context, mayHaveSent: true), index)
        case .takeHeld(let context): handle(.takeHeld(context), index)
        case .announceOutcome: players[index].announcements += 1
        case .report: report(index)
        case .refund: players[index].refunds += 1
        default: break
        }
    }
}
