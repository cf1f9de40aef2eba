// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What each of the processes does: loads until tokens last; returns how many loads that took.
private func loadUntilOver(port: Int, file: String) async throws -> Int {
    let clock = ManualClock(date: Date())
    let service = DataLoaderService(clock: clock)
    let issuer = "http://127.0.0.1:\(port)"
    var configuration = OAuthConfiguration(
        server: .issuer(testURL(issuer)), flow: .deviceCode, clientIdentifier: "client",
        hosts: ["127.0.0.1:\(port)"])
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
        } catch DataLoaderError.cannotAuthenticate(reason: "oauth: too many refreshes") {
            clock.rest()
            continue
        }
        // A token that the other process has used up meanwhile is refused a second time, and one that
        // cannot be replaced yet is.
        guard response.statusCode == .ok else {
            clock.rest()
            continue
        }
        if response.body == Data("over".utf8) { return count }
    }
    return 0
}

extension ManualClock {
    /// Tokens of a real server last longer than these: flights are as far apart as they may be.
    fileprivate func rest() {
        advance(by: .seconds(30))
        setDate(Date())
    }
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
