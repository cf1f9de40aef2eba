// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Tokens that a platform keeps in a file.
@Suite struct TokenFileTests {
    private let directory = TemporaryDirectory()

    private func refusal(_ name: String) async -> AuthorisationError? {
        do {
            _ = try await AccessToken(contentsOf: directory.url(name))
            return nil
        } catch {
            return error as? AuthorisationError
        }
    }

    @Test(arguments: ["canary", "canary\n", "  canary\r\n\n"])
    func `a token is read without the white space around it`(text: String) async throws {
        let file = try directory.write(Data(text.utf8), to: "token")
        let token = try await AccessToken(contentsOf: file, lifetime: .seconds(7))
        #expect(token == AccessToken("canary", lifetime: .seconds(7)))
    }

    @Test func `a file that has no token is refused without its path and its content`()
        async throws
    {
        #expect(
            await refusal("canary")
                == .store(reason: "the token cannot be read: No such file or directory"))
        for text in ["", " \n"] {
            try directory.write(Data(text.utf8), to: "canary")
            #expect(await refusal("canary") == .store(reason: "the token's file is empty"))
        }
        for text in ["canary canary", "canary\u{0}", "a\nb", "é"] {
            try directory.write(Data(text.utf8), to: "canary")
            #expect(
                await refusal("canary") == .store(reason: "the token's file has something else"))
        }
        try directory.write(Data(count: 1_048_577), to: "canary")
        #expect(await refusal("canary") == .store(reason: "the token's file is too large"))
    }

    @Test func `a pipe in the place of a token's file is not waited for`() async {
        #expect(mkfifo(directory.url("pipe").path, 0o600) == 0)
        #expect(await refusal("pipe") == .store(reason: "the token's file is not a file"))
    }

    @Test func `a token that the platform replaces is used after a minute, or after a 401`()
        async throws
    {
        let file = try directory.write(Data("one".utf8), to: "token")
        let clock = ManualClock()
        let accepted = Locked(Set(["one"]))
        let transport = ScriptedTransport(
            otherwise: .run { attempt in
                let token = (attempt.request.headers["Authorization"] ?? "").dropFirst(7)
                let isAccepted = accepted.withLock { $0.contains(String(token)) }
                attempt.respond(status: isAccepted ? 200 : 401)
            })
        let authoriser = TokenAuthoriser(hosts: ["origin.test"], clock: clock) { _ in
            try await AccessToken(contentsOf: file)
        }
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        let service = DataLoaderService(configuration: configuration, clock: clock)
        let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
        func status() async throws -> Int? {
            let request = DataLoaderRequest(url: testURL("https://origin.test/"))
            return try await loader.response(for: request).statusCode?.rawValue
        }
        #expect(try await status() == 200)

        try directory.write(Data("two".utf8), to: "token")
        #expect(try await status() == 200)
        accepted.withLock { $0 = ["one", "two"] }
        clock.advance(by: .seconds(60))
        #expect(try await status() == 200)
        #expect(transport.attempts.last?.request.headers["Authorization"] == "Bearer two")

        try directory.write(Data("three".utf8), to: "token")
        accepted.withLock { $0 = ["three"] }
        #expect(try await status() == 200)
        #expect(transport.attempts.last?.request.headers["Authorization"] == "Bearer three")
    }
}
