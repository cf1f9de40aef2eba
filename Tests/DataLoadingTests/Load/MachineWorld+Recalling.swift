// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import Foundation

/// Answers in place of the cache, and of the load that is sent for several.
extension MachineWorld {
    private static let moment = CacheMoment(wall: 0, monotonic: instant)

    private static let stored: StoredAnswer? = StoredResponse(
        ResponseHead(status: .ok), request: [:],
        times: ResponseTimes(requested: instant, received: moment), hasQuery: false
    ).map { StoredAnswer(response: $0, body: .memory(Data([1]))) }

    /// What the cache may decide.
    static let decisions: [CacheDecision] = [
        .forward(.uriMiss, mayUseOnError: false), .reuse(.fresh), .unavailable,
        .validate(["If-None-Match": "\"1\""], mayUseOnError: true), .reuse(.whileRevalidating),
    ]

    mutating func recalled(
        _ decision: CacheDecision, _ target: RequestTarget, _ epoch: Int, _ index: Int
    ) {
        let recall = recall(decision, target)
        let use = decision.use(recall.stored)
        let answer = use.map { playing($0, target, index) }
        handle(.recalled(recall, playing: answer, epoch: epoch), index)
    }

    mutating func answered(_ target: RequestTarget, _ epoch: Int, _ index: Int) {
        let whole = StoredWhole(
            head: ResponseHead(status: .ok), body: Data([1]),
            recalled: recall(.reuse(.fresh), target))
        handle(.answered(whole, epoch: epoch), index)
    }

    private func recall(_ decision: CacheDecision, _ target: RequestTarget) -> Recall {
        var stored: StoredAnswer?
        switch decision {
        case .reuse, .validate: stored = Self.stored
        default: break
        }
        return Recall(
            key: CacheKey(.shared, target), request: CacheRequest(method: .get, headers: [:]),
            decision: decision, stored: stored, moment: Self.moment, stamp: Removals().stamp)
    }

    mutating func play(
        _ use: StoredUse, _ target: RequestTarget, _ recalled: Recall, _ epoch: Int, _ index: Int
    ) {
        handle(
            .recalled(recalled, playing: playing(use, target, index), epoch: epoch), index)
    }

    private func playing(
        _ use: StoredUse, _ target: RequestTarget, _ index: Int
    ) -> AttemptSink {
        AttemptSink(
            load: loads[index], origin: target.origin, playing: ResponseHead(status: .ok),
            use.stored.body, use.source, begun: Self.instant)
    }

    /// The verdicts that only a load with a stored response can get.
    func storedVerdicts(_ index: Int) -> [Verdict] {
        guard let stored = players[index].machine.facts.recalled?.stored else { return [] }
        return [
            .discard(then: .useStored(.confirmed(stored, was: stored.response, mayStay: true))),
            .discard(then: .useStored(.onError(stored))), .discard(then: .fetchWhole),
        ]
    }

    /// Says whether the load follows another one: not, until that one ends, or until it has ended
    /// already.
    mutating func share(_ choice: Int, _ epoch: Int, _ index: Int) {
        guard choice > 0 else { return handle(.notShared(epoch: epoch), index) }
        players[index].joins += 1
        players[index].following = epoch
        if choice == 2 { endCarrier(isSuccess: true, index) }
        handle(.follows(carrier, epoch: epoch), index)
    }

    /// Ends the load that another one follows.
    mutating func endCarrier(isSuccess: Bool, _ index: Int) {
        guard let epoch = players[index].following.take() else { return }
        players[index].served += 1
        var response = DataLoaderResponse(
            request: .make(), error: isSuccess ? nil : .connectionReset,
            statusCode: isSuccess ? .ok : nil, headers: [:], resolvedURL: nil)
        response.body = isSuccess ? Data([1]) : nil
        handle(.shared(SharedResponse(response, isCounted: true, by: carrier), epoch: epoch), index)
    }

    /// What of the answer of the cache makes a difference later.
    static func digest(_ recalled: Recall?) -> String {
        guard let recall = recalled else { return "-" }
        return "\(recall.decision)".prefix { $0 != "(" } + "\(recall.stored != nil)"
            + "\(recall.forErrors != nil)"
    }

    mutating func leaveCarrier(_ index: Int) {
        if players[index].following.take() != nil { players[index].leaves += 1 }
        handle(.leftCarrier(mayHaveSent: true), index)
    }
}
