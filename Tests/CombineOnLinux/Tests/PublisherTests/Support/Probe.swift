// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Combine
import DataLoadingSupport
import DataLoadingTesting

/// A subscriber that records what it receives, and demands what a test says.
final class Probe<Input: Sendable, Failure: Error>: Subscriber, Sendable {
    /// One call of the publisher.
    enum Event: Sendable {
        case value(Input)
        case finished
        case failed(Failure)

        var value: Input? { if case .value(let value) = self { value } else { nil } }
        var error: Failure? { if case .failed(let error) = self { error } else { nil } }
        var isFinished: Bool { if case .finished = self { true } else { false } }
    }

    typealias Reaction = @Sendable (Probe, Input) -> Subscribers.Demand

    private struct Held: Sendable {
        nonisolated(unsafe) var subscription: (any Subscription)?
    }

    private let recorder = EventRecorder<Event>()
    private let held = Locked(Held())
    private let initialDemand: Subscribers.Demand
    private let reaction: Reaction

    /// Makes a subscriber with a demand at once, and one for each value that it receives.
    init(
        demand: Subscribers.Demand = .unlimited, _ reaction: @escaping Reaction = { _, _ in .none }
    ) {
        initialDemand = demand
        self.reaction = reaction
    }

    /// The calls so far.
    var events: [Event] { recorder.elements }

    /// The values so far.
    var values: [Input] { events.compactMap(\.value) }

    /// Returns the calls once there are this many.
    func events(_ count: Int) async -> [Event] { await recorder.first(count) }

    /// Returns the calls up to the completion, once it came.
    func completed() async -> [Event] {
        var count = 1
        while true {
            let events = await recorder.first(count)
            if events.contains(where: { $0.value == nil }) { return events }
            count = events.count + 1
        }
    }

    func request(_ demand: Subscribers.Demand) {
        subscription?.request(demand)
    }

    func cancel() {
        subscription?.cancel()
    }

    func receive(subscription: any Subscription) {
        let new = Held(subscription: subscription)
        held.withLock { $0 = new }
        if initialDemand > .none { subscription.request(initialDemand) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        recorder.record(.value(input))
        return reaction(self, input)
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        switch completion {
        case .finished: recorder.record(.finished)
        case .failure(let error): recorder.record(.failed(error))
        }
        held.withLock { $0 = Held() }
    }

    private var subscription: (any Subscription)? { held.withLock { $0 }.subscription }
}
