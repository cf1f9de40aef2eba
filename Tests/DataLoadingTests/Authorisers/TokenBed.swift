// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation

/// Loads that a `TokenAuthoriser` authorises, before a server that takes the tokens a test names.
final class TokenBed: Sendable {
    let clock = ManualClock()
    let fetch = HeldFetch<AccessToken>()
    let authoriser: TokenAuthoriser
    let bed: TestBed
    private let accepted = Locked<Set<String>>([])

    init(
        accepting tokens: Set<String> = ["1"], challenge: String = "Bearer error=\"invalid_token\"",
        _ configure: (inout DataLoaderService.Configuration) -> Void = { _ in }
    ) {
        let fetch = fetch
        let accepted = accepted
        accepted.withLock { $0 = tokens }
        authoriser = TokenAuthoriser(
            hosts: ["origin.test"], timekeeper: clock.timekeeper,
            random: RandomSource(SeededGenerator(seed: 1)), fetch: { try await fetch($0) })
        let answer = ScriptedAnswer.run { attempt in
            let token = attempt.request.headers["Authorization"] ?? ""
            let isAccepted = accepted.withLock { $0.contains(String(token.dropFirst(7))) }
            isAccepted
                ? attempt.respond(status: 200)
                : attempt.respond(status: 401, headers: ["WWW-Authenticate": challenge])
        }
        bed = TestBed(otherwise: answer, authorisers: [authoriser], clock: clock, configure)
    }

    /// From now on the server takes these.
    func accept(_ tokens: Set<String>) { accepted.withLock { $0 = tokens } }

    /// Performs loads, over https.
    @discardableResult
    func perform(_ count: Int = 1) -> [CancellationToken] {
        (0..<count).map { bed.loader.perform(.make("/\($0)", host: "https://origin.test")) }
    }

    /// Performs a load and returns how it ended.
    func load() async -> DataLoaderResponse? {
        let ended = bed.delegate.events.filter(\.isTerminal).count
        perform()
        return await bed.delegate.outcomes(ended + 1)[ended].response
    }

    /// The tokens that were sent, in their order.
    var sent: [String] {
        bed.transport.attempts.map { $0.request.headers["Authorization"] ?? "none" }
    }

    /// How every load so far ended.
    var errors: [DataLoaderError?] {
        bed.settle()
        return bed.delegate.events.filter(\.isTerminal).map { event in
            if case .cancelled = event { return .cancelled }
            return event.response?.error
        }
    }
}
