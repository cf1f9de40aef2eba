// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

// RFC 8628
@Suite struct OAuthDeviceTests {
    /// Moves the clock to each next question of the device, so many times.
    private func poll(_ test: OAuthBed, _ count: Int, every interval: Duration = .seconds(5)) async
    {
        for _ in 0..<count {
            let asked = test.provider.asked(grant)
            await test.clock.waitForAlarms(1, within: interval)
            test.clock.advance(by: interval)
            while test.provider.asked(grant) == asked { await Task.yield() }
        }
    }

    private let grant = "urn:ietf:params:oauth:grant-type:device_code"

    /// A load without a deadline of its own, since people take longer.
    private func perform(_ test: OAuthBed) {
        test.loader.perform(
            .make("/device", host: "https://origin.test") { $0.timeout = .seconds(3_600) })
    }

    /// Asks for a code "d" that the server has said these seconds of, without an authoriser.
    private func logIn(
        _ test: OAuthBed, interval: Double, lifetime: Double
    ) throws -> Task<OAuthCredentials, any Error> {
        let code = try DeviceCode([
            "device_code": .string("d"), "user_code": .string("u"), "interval": .number(interval),
            "verification_uri": .string("https://auth.test"), "expires_in": .number(lifetime),
        ])
        let server = OAuthServer(
            OAuthConfiguration(
                server: .endpoints(test.provider.endpoints), flow: .deviceCode,
                clientIdentifier: "client", hosts: []), service: test.bed.service)
        let owner = OAuthOwner()
        return Task {
            defer { withExtendedLifetime(owner) {} }
            return try await DevicePolling(server: server, owner: owner).state(after: code) { $0 }
        }
    }

    @Test func `a device's login shows the code, and polls until the person has decided`() async {
        let test = OAuthBed(.deviceCode)
        perform(test)
        let code = await test.person.codes.first(1)[0]
        #expect(code.userCode == "WDJB-MJHT")
        #expect(code.verificationURL == test.provider.endpoint("/activate"))
        #expect(!String(reflecting: code).contains("device-1"))
        await poll(test, 3)
        test.provider.decide(approve: true)
        await poll(test, 1)
        #expect(await test.ends(1)[0]?.error == nil)
        #expect(test.provider.asked(grant) == 4)
        test.expectNoViolation()
    }

    @Test func `a device's login ends when the person refuses`() async {
        let test = OAuthBed(.deviceCode)
        perform(test)
        _ = await test.person.codes.first(1)
        test.provider.decide(approve: false)
        await poll(test, 1)
        let end = await test.ends(1)[0]
        #expect(
            end?.error?.underlyingError as? AuthorisationError == .refused(code: "access_denied"))
    }

    @Test func `a device polls five seconds less often each time it is told to slow down`() async {
        let test = OAuthBed(.deviceCode)
        perform(test)
        _ = await test.person.codes.first(1)
        test.provider.answerNextTokenQuestion(with: .refuse("slow_down"))
        await poll(test, 1)
        await test.clock.waitForAlarms(1, within: .seconds(10))
        test.clock.advance(by: .seconds(9))
        #expect(test.provider.asked(grant) == 1)
        test.provider.decide(approve: true)
        test.clock.advance(by: .seconds(1))
        #expect(await test.ends(1)[0]?.error == nil)
        #expect(test.provider.asked(grant) == 2)
        test.expectNoViolation()
    }

    // Section 3.5: "for this and all subsequent requests".
    @Test func `a device polls no more often after a failure than it was told to`() async throws {
        let test = OAuthBed(.deviceCode)
        let expiry = test.clock.instant + .seconds(36_000)
        test.provider.state.withLock {
            $0.devices["d"] = .init(interval: .seconds(300), expiry: expiry)
        }
        let login = try logIn(test, interval: 300, lifetime: 36_000)
        test.provider.answerNextTokenQuestion(with: .refuse("slow_down"))
        test.provider.answerNextTokenQuestion(with: .init(status: 503))
        test.provider.decide(approve: true)
        let timerQueue = test.bed.service.runtime.timerQueue
        for interval: Duration in [.seconds(300), .seconds(305), .seconds(305)] {
            let now = test.clock.instant
            // Loads have 30 seconds.
            await eventually { timerQueue.earliest.map { $0 - now >= .seconds(300) } ?? false }
            #expect(timerQueue.earliest == now + interval)
            test.clock.advance(by: interval)
        }
        #expect(try await login.value.refreshToken != nil)
    }

    @Test func `a device does not poll after the end of its code`() async throws {
        let test = OAuthBed(.deviceCode)
        let login = try logIn(test, interval: 5_000, lifetime: 900)
        await test.clock.waitForAlarms(1)
        test.clock.advance(by: .seconds(900))
        await #expect(throws: AuthorisationError.refused(code: "expired_token")) {
            try await login.value
        }
    }

    @Test func `a device's login ends when the code has expired`() async {
        let test = OAuthBed(.deviceCode)
        perform(test)
        _ = await test.person.codes.first(1)
        await test.clock.waitForAlarms(1, within: .seconds(5))
        test.clock.advance(by: .seconds(601))
        await eventually {
            // The device may have asked once more on the way, and wait for an instant that is past.
            test.clock.advance(by: .zero)
            return test.delegate.events.contains { $0.isTerminal }
        }
        let end = await test.ends(1)[0]
        #expect(
            end?.error?.underlyingError as? AuthorisationError == .refused(code: "expired_token"))
    }

    @Test func `a device polls less often while the server fails, and does not stop`() async {
        let test = OAuthBed(.deviceCode)
        perform(test)
        _ = await test.person.codes.first(1)
        test.provider.answerNextTokenQuestion(with: .init(status: 503))
        await poll(test, 1)
        test.provider.decide(approve: true)
        await test.clock.waitForAlarms(1, within: .seconds(10))
        test.clock.advance(by: .seconds(10))
        #expect(await test.ends(1)[0]?.error == nil)
        test.expectNoViolation()
    }

    @Test(
        arguments: [
            (.tls, true), (.proxy(.connectRefused), true), (.connectRefused, true),
            (.status(.serviceUnavailable), true),
            (.timedOut(after: .seconds(1), mayHaveBeenProcessed: false), true),
            (.certificate(reason: "x"), false), (.pin, false), (.serviceInvalidated, false),
            (.proxy(.status(.proxyAuthenticationRequired)), false),
        ] as [(DataLoaderError, Bool)])
    func `a device polls on after a failure that may pass`(error: DataLoaderError, passes: Bool) {
        #expect(DevicePolling.mayPass(error) == passes)
    }

    @Test(arguments: [404, 403, 301])
    func `a device's login fails at a server without that endpoint`(status: Int) async {
        let test = OAuthBed(.deviceCode)
        perform(test)
        _ = await test.person.codes.first(1)
        test.provider.answerNextTokenQuestion(with: .init(status: status))
        await poll(test, 1)
        let end = await test.ends(1)[0]
        #expect(
            end?.error?.underlyingError as? AuthorisationError
                == .load(.status(HTTPStatus(rawValue: status))))
    }

    @Test func `a device stops polling with the end of the service`() async {
        let test = OAuthBed(.deviceCode)
        let logIn = Task { try await test.authoriser.logIn() }
        _ = await test.person.codes.first(1)
        await test.clock.waitForAlarms(1, within: .seconds(5))
        await test.bed.service.shutDown(gracePeriod: .zero)
        test.clock.advance(by: .seconds(5))
        await #expect(throws: AuthorisationError.load(.serviceInvalidated)) {
            try await logIn.value
        }
    }

    @Test func `a device stops polling with a reset`() async {
        let test = OAuthBed(.deviceCode)
        perform(test)
        _ = await test.person.codes.first(1)
        await poll(test, 1)
        await test.factory.reset()
        #expect(await test.ends(1)[0]?.error == .reset)
        test.clock.advance(by: .seconds(60))
        #expect(test.provider.asked(grant) == 1)
    }

    @Test func `a device polls as seldom as the server wants`() throws {
        let code = try DeviceCode([
            "device_code": .string("d"), "user_code": .string("u"), "interval": .number(900),
            "verification_uri": .string("https://auth.test/"), "expires_in": .number(1_800),
        ])
        #expect(code.interval == .seconds(900))
    }

    @Test(arguments: ["device_code", "user_code", "verification_uri", "expires_in"])
    func `a device's login says which part of the answer is missing`(field: String) {
        var fields: [String: JSONValue] = [
            "device_code": .string("d"), "user_code": .string("u"),
            "verification_uri": .string("https://auth.test/"), "expires_in": .number(60),
        ]
        #expect(throws: Never.self) { try DeviceCode(fields) }
        fields[field] = nil
        #expect(throws: AuthorisationError.invalidAnswer(reason: field)) { try DeviceCode(fields) }
    }

    @Test(arguments: [
        ("verification_uri", "javascript:alert(1)"), ("verification_uri", "file:///etc/passwd"),
        ("verification_uri", "http://auth.test/"), ("user_code", "A\u{1B}]0;owned\u{7}"),
    ])
    func `a device code that is unsafe to show is refused`(name: String, value: String) {
        var fields: [String: JSONValue] = [
            "device_code": .string("d"), "user_code": .string("u"),
            "verification_uri": .string("https://auth.test/"), "expires_in": .number(60),
        ]
        fields[name] = .string(value)
        #expect(throws: AuthorisationError.self) { try DeviceCode(fields) }
    }

    @Test func `a device stops polling when its authoriser was released`() async {
        let clock = ManualClock()
        let provider = StrictProvider { clock.instant }
        let bed = TestBed(otherwise: .run { provider.serve($0) }, clock: clock)
        let person = OAuthBed.Person()
        weak var released: OAuthAuthoriser?
        do {
            let authoriser = OAuthAuthoriser(
                OAuthConfiguration(
                    server: .endpoints(provider.endpoints), flow: .deviceCode,
                    clientIdentifier: "client", hosts: ["origin.test"]),
                service: bed.service, delegate: person)
            released = authoriser
            let loader = bed.service.makeFactory(authorisers: [authoriser]).makeDataLoader()
            loader.perform(.make(host: "https://origin.test"))
            _ = await person.codes.first(1)
        }
        // The end of the load may still have it for a moment.
        await eventually { released == nil }
        for _ in 0..<5 {
            clock.advance(by: .seconds(5))
            for _ in 0..<100 { await Task.yield() }
        }
        let asked = provider.asked("urn:ietf:params:oauth:grant-type:device_code")
        #expect(asked == 0)
    }
}
