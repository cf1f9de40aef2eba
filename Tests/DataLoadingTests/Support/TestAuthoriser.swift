// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation

extension AuthenticationMethod {
    static let basic = AuthenticationMethod(rawValue: "basic")
    static let bearer = AuthenticationMethod(rawValue: "bearer")
}

/// An authoriser that answers as a test says and records every call.
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
        /// In the call, with a header field.
        case add(String, String)
        /// In the call, with a changed request.
        case change(@Sendable (inout DataLoaderRequest) -> Void)
        /// When the test says so.
        case hold
        /// In the call, with a refusal.
        case refuse
    }

    struct Refusal: Error {}

    let identifier: String
    let method: AuthenticationMethod?
    private let recovers: Bool
    private let requires: @Sendable (DataLoaderRequest) -> Bool
    private let answer: Locked<Answer>
    private let recorder = EventRecorder<Call>()
    private let held = EventRecorder<HeldQuestion>()
    private let onCall: @Sendable (Call) -> Void

    init(
        _ answer: Answer = .add("Authorization", "Bearer token"), identifier: String = "test",
        method: AuthenticationMethod? = nil, recovers: Bool = true,
        requires: @escaping @Sendable (DataLoaderRequest) -> Bool = { _ in true },
        onCall: @escaping @Sendable (Call) -> Void = { _ in }
    ) {
        self.identifier = identifier
        self.method = method
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
    func held(_ count: Int) async -> [HeldQuestion] { await held.first(count) }

    /// What was to be authorised so far.
    var heldNow: [HeldQuestion] { held.elements }

    /// Changes how it answers.
    func answers(_ answer: Answer) { self.answer.withLock { $0 = answer } }

    /// Authorises a held request.
    func grant(_ index: Int, _ name: String = "Authorization", _ value: String = "Bearer late") {
        let question = held.elements[index]
        var authorised = question.request
        authorised.headers[name] = value
        question.answer(.success(authorised))
    }

    /// Refuses a held request.
    func refuse(_ index: Int) {
        held.elements[index].answer(.failure(Refusal()))
    }

    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        guard requires(request) else { return .unchanged }
        note(.authorise(request.url.path))
        var authorised = request
        switch answer.withLock({ $0 }) {
        case .add(let name, let value):
            authorised.headers[name] = value
            return .use(authorised)
        case .change(let change):
            change(&authorised)
            return .use(authorised)
        case .hold:
            let question = HeldQuestion(request)
            held.record(question)
            return question.authorisation { [self] in note(.cancel(request.url.path)) }
        case .refuse:
            return .refuse(Refusal())
        }
    }

    func recover(_ request: DataLoaderRequest, from response: DataLoaderResponse) -> Bool {
        note(.failed(request.url.path, response.statusCode?.rawValue ?? 0))
        return recovers
    }

    func reset() async { note(.reset) }

    private func note(_ call: Call) {
        recorder.record(call)
        onCall(call)
    }
}
