// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation

/// An authoriser that does as a test says and notes every call.
final class TestAuthoriser: Authoriser {
    /// One call, with the path of the request.
    enum Call: Hashable, Sendable {
        case authorise(String)
        case failed(String, Int)
        case cancel(String)
        case reset
    }

    /// How it answers.
    enum Answer: Sendable {
        /// Inside the call, with a header field.
        case add(String, String)
        /// Inside the call, with a changed request.
        case change(@Sendable (inout DataLoaderRequest) -> Void)
        /// When the test says so.
        case hold
        /// With a refusal, inside the call.
        case refuse
        /// Never: it lets the delegate go.
        case drop
    }

    struct Refusal: Error {}

    typealias Held = (request: DataLoaderRequest, delegate: any AuthoriserDelegate)

    let identifier: String
    private let recovers: Bool
    private let requires: @Sendable (DataLoaderRequest) -> Bool
    private let answer: Locked<Answer>
    private let recorder = EventRecorder<Call>()
    private let held = EventRecorder<Held>()
    private let onCall: @Sendable (Call) -> Void

    init(
        _ answer: Answer = .add("Authorization", "Bearer token"), identifier: String = "test",
        recovers: Bool = true,
        requires: @escaping @Sendable (DataLoaderRequest) -> Bool = { _ in true },
        onCall: @escaping @Sendable (Call) -> Void = { _ in }
    ) {
        self.identifier = identifier
        self.recovers = recovers
        self.requires = requires
        self.answer = Locked(answer)
        self.onCall = onCall
    }

    /// Every call so far.
    var calls: [Call] { recorder.elements }

    /// Returns the calls once there are at least `count`.
    func calls(_ count: Int) async -> [Call] { await recorder.first(count) }

    /// Returns what was to be authorised, once there is at least `count` of it.
    func held(_ count: Int) async -> [Held] { await held.first(count) }

    /// What was to be authorised so far.
    var heldNow: [Held] { held.elements }

    /// Changes how it answers.
    func answers(_ answer: Answer) { self.answer.withLock { $0 = answer } }

    /// Answers one that it held.
    func grant(_ index: Int, _ name: String = "Authorization", _ value: String = "Bearer late") {
        let (request, delegate) = held.elements[index]
        var authorised = request
        authorised.headers[name] = value
        delegate.authoriser(self, authorised: authorised)
    }

    /// Refuses one that it held.
    func refuse(_ index: Int) {
        let (request, delegate) = held.elements[index]
        delegate.authoriser(self, didFailToAuthorise: request, error: Refusal())
    }

    func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool { requires(request) }

    func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {
        note(.authorise(request.url.path))
        var authorised = request
        switch answer.withLock({ $0 }) {
        case .add(let name, let value):
            authorised.headers[name] = value
            delegate.authoriser(self, authorised: authorised)
        case .change(let change):
            change(&authorised)
            delegate.authoriser(self, authorised: authorised)
        case .hold:
            held.record((request, delegate))
        case .refuse:
            delegate.authoriser(self, didFailToAuthorise: request, error: Refusal())
        case .drop:
            break
        }
    }

    func canRecover(_ request: DataLoaderRequest, from response: DataLoaderResponse) -> Bool {
        recovers
    }

    func requestFailedAuthorisation(_ request: DataLoaderRequest, response: DataLoaderResponse) {
        note(.failed(request.url.path, response.statusCode.rawValue))
    }

    func cancelAuthorisation(of request: DataLoaderRequest) { note(.cancel(request.url.path)) }

    func refresh() {}

    func reset() async { note(.reset) }

    private func note(_ call: Call) {
        recorder.record(call)
        onCall(call)
    }
}
