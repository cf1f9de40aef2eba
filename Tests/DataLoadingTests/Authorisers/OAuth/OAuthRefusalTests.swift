// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Who says no to a refresh: the token endpoint, which may end the refresh token, or somebody before it.
@Suite struct OAuthRefusalTests {
    private static let device = "urn:ietf:params:oauth:grant-type:device_code"

    /// Logs in, has the refresh answered so, and loads once more.
    private func refused(
        _ answer: StrictProvider.Answer, whereEnding codes: Set<String> = []
    ) async -> OAuthBed {
        let test = OAuthBed { configuration, _ in configuration.codesThatEndRefreshTokens = codes }
        await test.logIn()
        // Where it may be asked again it is, twice.
        for _ in 0..<(answer.status == 429 ? 3 : 1) {
            test.provider.answerNextTokenQuestion(with: answer)
        }
        test.clock.advance(by: .seconds(3_600))
        test.perform()
        await Self.passPauses(of: test) { test.delegate.events.filter(\.isTerminal).count == 2 }
        return test
    }

    /// Lets pauses pass until something holds: not the limits of what is under way, which are longer.
    private static func passPauses(of test: OAuthBed, until isOver: () -> Bool) async {
        let runtime = test.bed.service.runtime
        await eventually {
            if runtime.admission.load == (0, 0),
                let pause = runtime.timerQueue.earliest.map({ $0 - test.clock.instant }),
                pause > .zero, pause <= .seconds(20)
            {
                test.clock.advance(by: pause)
            }
            return isOver()
        }
    }

    // Gateways, rate limits and frameworks have an "error" of their own.
    @Test(arguments: [
        ("too_many_requests", 429), ("slow_down", 429), ("Forbidden", 403), ("Not Found", 404),
        ("Realm does not exist", 404), ("Unauthorized", 401), ("Bad Request", 400), ("", 400),
        ("unknown", 421), ("invalid_target", 400), ("use_dpop_nonce", 400), ("invalid_client", 401),
    ])
    func `a refusal that is about something else ends no refresh token`(
        code: String, status: Int
    ) async throws {
        let test = await refused(.refuse(code, status: status))
        #expect(try await test.store.load()?.refreshToken == "refresh-2")
        test.clock.advance(by: .seconds(60))
        test.perform()
        await test.untilAsked(2, orEnded: 3)
        #expect(test.person.asked.elements.count == 1)
        #expect(try await test.store.load()?.refreshToken == "refresh-3")
        await test.factory.reset()
    }

    // Auth0 says so with 403, and older servers with 401.
    @Test(arguments: [400, 401, 403, 200])
    func `a refresh token that is good for nothing any more is deleted, whatever the status`(
        status: Int
    ) async throws {
        let test = await refused(.refuse("invalid_grant", status: status))
        #expect(try await test.store.load() == nil)
    }

    @Test(arguments: [["session_over"], ["another"], []] as [Set<String>])
    func `a program may know more codes that end a refresh token`(codes: Set<String>) async throws {
        let test = await refused(.refuse("session_over"), whereEnding: codes)
        let isKept = !codes.contains("session_over")
        #expect((try await test.store.load() != nil) == isKept)
    }

    @Test(arguments: ["invalid_grant", "bad_refresh_token", "session_over"])
    func `a refused token is not sent when its refresh token is invalid, whatever the code`(
        code: String
    ) async {
        let test = OAuthBed { configuration, _ in
            configuration.codesThatEndRefreshTokens = ["session_over"]
        }
        await test.logIn()
        test.provider.expireAccessTokens()
        test.provider.answerNextTokenQuestion(with: .refuse(code))
        test.perform()
        let end = await test.ends(2)[1]
        #expect(end?.error?.underlyingError as? AuthorisationError == .refused(code: code))
        #expect(test.sent.count == 2)
    }

    // Auth0 says that it waits with 403 and Google with 428; a limit of the server's ends nothing.
    @Test(arguments: [
        ("authorization_pending", 403), ("authorization_pending", 428), ("slow_down", 403),
        ("too_many_requests", 429), ("Forbidden", 502),
    ])
    func `a device polls although it is told to wait in another way`(
        code: String, status: Int
    ) async throws {
        let test = OAuthBed(.deviceCode)
        let expiry = test.clock.instant + .seconds(36_000)
        test.provider.state.withLock {
            $0.devices["d"] = .init(interval: .seconds(5), expiry: expiry)
        }
        test.provider.decide(approve: true)
        for _ in 0..<(status == 429 ? 3 : 1) {
            test.provider.answerNextTokenQuestion(with: .refuse(code, status: status))
        }
        let device = try DeviceCode([
            "device_code": .string("d"), "user_code": .string("u"), "interval": .number(5),
            "verification_uri": .string("https://auth.test"), "expires_in": .number(36_000),
        ])
        let server = OAuthServer(
            OAuthConfiguration(
                server: .endpoints(test.provider.endpoints), flow: .deviceCode,
                clientIdentifier: "client", hosts: []), service: test.bed.service)
        let owner = OAuthOwner()
        let end = EventRecorder<Result<OAuthCredentials, any Error>>()
        let login = Task {
            let credentials: Result<OAuthCredentials, any Error>
            do {
                let polling = DevicePolling(server: server, owner: owner)
                credentials = .success(try await polling.state(after: device) { $0 })
            } catch {
                credentials = .failure(error)
            }
            withExtendedLifetime(owner) { end.record(credentials) }
        }
        await Self.passPauses(of: test) { !end.elements.isEmpty }
        await login.value
        #expect(try end.elements.first?.get().refreshToken != nil)
        #expect(test.provider.asked(Self.device) >= 2)
    }
}
