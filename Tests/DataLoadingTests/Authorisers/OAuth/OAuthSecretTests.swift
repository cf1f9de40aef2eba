// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingAuth
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

// OM-26: tokens, codes, verifiers and secrets are in no log, error or description.
@Suite struct OAuthSecretTests {
    /// Everything that a program could print of a run.
    private final class Output: Sendable {
        private let texts = Locked<[String]>([])

        var all: String { texts.withLock { $0.joined(separator: "\n") } }

        func write(_ value: Any) {
            var dumped = ""
            dump(value, to: &dumped)
            let text = "\(value)\n\(String(reflecting: value))\n\(dumped)"
            texts.withLock { $0.append(text) }
        }
    }

    @Test func `no secret of a login, a refresh or a log out is printed`() async throws {
        let output = Output()
        let test = OAuthBed { configuration, _ in
            configuration.clientAuthentication = .basic(secret: "s+cret")
        }
        let loggers = [ConsumptionLogger.Format.text, .json].map { format in
            ConsumptionLogger(format: format) { output.write($0) }
        }
        let queue = DispatchQueue(label: "log")
        for logger in loggers { test.bed.service.addConsumptionObserver(logger, on: queue) }

        test.perform()
        await test.consent()
        _ = await test.ends(1)
        test.clock.advance(by: .seconds(3_600))
        _ = await test.load()
        let kept = try #require(try await test.store.load())
        test.provider.answerNextTokenQuestion(
            with: .init(
                status: 400,
                fields: [
                    "error": .string("invalid_grant"),
                    "error_description": .string(kept.refreshToken ?? ""),
                ]))
        test.clock.advance(by: .seconds(3_600))
        _ = await test.load()
        await test.factory.reset()
        queue.sync {}

        for end in test.delegate.events.compactMap(\.response) {
            output.write(end)
            if let error = end.error?.underlyingError { output.write(error) }
        }
        output.write(test.authoriser)
        output.write(kept)
        for object in [test.store as Any, test.factory, test.loader] { output.write(object) }
        let all = output.all
        #expect(all.contains("/token"))
        let codes = test.provider.state.withLock { Array($0.codes.keys) }
        let secrets =
            codes + ["access-", "refresh-2", "refresh-3", "s+cret", "s%2Bcret", "code_verifier="]
        for secret in secrets { #expect(!all.contains(secret), "\(secret)") }
    }
}
