// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A provider and a resource on a real socket; each access token is good for a few loads.
private final class OAuthLoopback: Sendable {
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

/// What each of the processes does: loads until tokens last; returns how many loads that took.
private func loadUntilOver(port: Int, file: String) async throws -> Int {
    let clock = ManualClock(date: Date())
    let service = DataLoaderService(clock: clock)
    let issuer = "http://127.0.0.1:\(port)"
    var configuration = OAuthConfiguration(
        server: .issuer(testURL(issuer)), flow: .deviceCode, clientIdentifier: "client",
        hosts: ["127.0.0.1"])
    configuration.allowsPlainLoopback = true
    let authoriser = OAuthAuthoriser(
        configuration, service: service,
        store: FileCredentialStore(file: URL(fileURLWithPath: file)))
    let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
    for count in 1...10_000 {
        let response: DataLoaderResponse
        do {
            response = try await loader.response(
                for: DataLoaderRequest(url: testURL(issuer + "/resource")))
        } catch DataLoaderError.cannotAuthenticate(reason: "oauth: tooManyRefreshes") {
            // Tokens of a real server last longer than these.
            clock.advance(by: .seconds(30))
            clock.setDate(Date())
            continue
        }
        // A token that the other process has used up meanwhile is refused a second time.
        guard response.statusCode == .ok else { continue }
        if response.body == Data("over".utf8) { return count }
    }
    return 0
}

extension SocketTests {
    @Suite struct OAuthProcessTests {
        // However many processes share a store, each expiry costs one refresh.
        @Test func `two processes that share a file refresh fifty times between them`() async throws
        {
            let directory = TemporaryDirectory()
            let loopback = try OAuthLoopback(refreshes: 50)
            let file = directory.url("credentials.json")
            try await FileCredentialStore(file: file).save(loopback.issue())
            let port = Int(loopback.server.port)
            let path = file.path
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        await #expect(processExitsWith: .success) {
                            [port = port as Int, path = path as String] in
                            let count = try await loadUntilOver(port: port, file: path)
                            #expect(count > 1)
                        }
                    }
                }
            }
            let provider = try #require(loopback.provider.withLock { $0 })
            #expect(provider.asked("refresh_token") == 50)
            #expect(provider.violations == [])
            let kept = try #require(try await FileCredentialStore(file: file).load())
            #expect(provider.accepts(kept.accessToken))
        }
    }
}
