// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A provider and a resource on a real socket; each access token is good for a few loads.
final class OAuthLoopback: Sendable {
    static let uses = 5

    let provider = Locked<StrictProvider?>(nil)
    let server: LoopbackServer
    private let used = Locked<[String: Int]>([:])
    private let refreshes: Int

    // After so many refreshes tokens last.
    init(refreshes: Int) throws {
        self.refreshes = refreshes
        let provider = provider
        let used = used
        server = try LoopbackServer(
            handler: LoopbackHandler { request in
                guard let provider = provider.withLock({ $0 }) else { return .status(503) }
                guard request.path != "/resource" else {
                    let isOver = provider.asked("refresh_token") >= refreshes
                    let token = String((request.headers["Authorization"] ?? "").dropFirst(7))
                    let count = used.withLock { used in
                        used[token, default: 0] += 1
                        return used[token] ?? 0
                    }
                    guard provider.accepts(token), isOver || count <= Self.uses else {
                        return .status(401)
                    }
                    return .ok(.data(Data((isOver ? "over" : "more").utf8)))
                }
                let answer = provider.answer(
                    StrictProvider.Question(
                        method: request.method.rawValue, path: request.path,
                        authorization: request.headers["Authorization"],
                        contentType: request.headers["Content-Type"],
                        form: (try? FormDecoding.decode(Substring(request.text))) ?? [:]))
                return .status(answer.status, body: .data(answer.json))
            })
        let issuer = "http://127.0.0.1:\(server.port)"
        let begun = ContinuousClock.now
        provider.withLock {
            $0 = StrictProvider(issuer: issuer) {
                Instant(nanoseconds: 0) + (ContinuousClock.now - begun)
            }
        }
    }

    /// Credentials as from a login.
    func issue() throws -> OAuthCredentials {
        let provider = try #require(provider.withLock { $0 })
        let answer = provider.issue(family: nil, withRefresh: true)
        return try TokenAnswer.credentials(
            DataLoaderResponse(
                request: .make(), statusCode: .ok, body: answer.json), previous: nil,
            received: Date())
    }
}
