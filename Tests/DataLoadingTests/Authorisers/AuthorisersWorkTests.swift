// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What an authoriser loads for a load that runs is not held up by what ends other loads.
@Suite(.timeLimit(.minutes(15))) struct AuthorisersWorkTests {
    /// A resource that wants a token, and a place that has one.
    private static let answer = ScriptedAnswer.run { attempt in
        switch attempt.request.url.path {
        case "/token": attempt.give(.respond(status: 200, body: Data("1".utf8)))
        case "/resource" where attempt.request.headers["Authorization"] == "Bearer 1":
            attempt.give(.respond(status: 200))
        case "/resource": attempt.give(.respond(status: 401))
        default: break
        }
    }

    private static func authoriser(
        _ tokens: DataLoader, first: AccessToken, _ clock: ManualClock
    ) -> TokenAuthoriser {
        let isFirst = Locked<AccessToken?>(first)
        return TokenAuthoriser(hosts: ["origin.test"], clock: clock) { [weak tokens] _ in
            if let first = isFirst.withLock({ $0.take() }) { return first }
            guard let tokens else { throw DataLoaderError.cancelled }
            let request = DataLoaderRequest.make("/token", host: "https://login.test") {
                $0.headers["X-Password"] = "secret"
            }
            let response = try await tokens.response(for: request)
            return AccessToken(String(decoding: response.body ?? Data(), as: UTF8.self))
        }
    }

    private static let resource = DataLoaderRequest.make("/resource", host: "https://origin.test")

    @Test func `a load whose token has to be fetched while the service shuts down gets through`()
        async
    {
        let bed = TestBed([.hold], otherwise: Self.answer)
        let tokens = bed.service.makeFactory().makeDataLoader()
        let authoriser = Self.authoriser(tokens, first: AccessToken("old"), bed.clock)
        let delegate = RecordingDelegate()
        let loader = bed.service.makeFactory(authorisers: [authoriser])
            .makeDataLoader(delegate: delegate)
        bed.hold(loader)
        loader.perform(Self.resource)
        let attempt = await bed.attempt(0)
        let service = bed.service
        let end = Task { await service.shutDown(gracePeriod: .seconds(5)) }
        await bed.clock.waitForAlarms(1, within: .seconds(5))
        // Other loads are refused by now.
        bed.loader.perform(.make("/refused"))
        #expect(bed.error == .serviceInvalidated)
        attempt.respond(status: 401)
        let outcome = await delegate.outcomes(1)[0]
        #expect(outcome.response?.error == nil)
        #expect(outcome.response?.statusCode == .ok)
        _ = await end.value
        let paths = bed.transport.attempts.map(\.request.url.path)
        #expect(paths == ["/resource", "/token", "/resource"])
    }

    @Test func `a load inside a later answer gets through while the service shuts down`() async {
        let bed = TestBed(otherwise: Self.answer)
        let signer = LoadingSigner(bed.service.makeFactory().makeDataLoader())
        let loader = bed.service.makeFactory(authorisers: [signer]).makeDataLoader()
        async let response = loader.response(for: Self.resource)
        _ = await signer.isAsked.first(1)
        let service = bed.service
        let end = Task { await service.shutDown(gracePeriod: .seconds(5)) }
        await bed.clock.waitForAlarms(1, within: .seconds(5))
        signer.mayLoad.record(())
        #expect((try? await response)?.statusCode == .ok)
        _ = await end.value
        // Its task kept running after its answer, and its loads are like any others by then.
        signer.isOver.record(())
        #expect(await signer.late.first(1)[0] == .serviceInvalidated)
    }

    @Test func `a fetch needs no free connection, and observers see nothing of its secrets`() async
    {
        let bed = TestBed([.hold], otherwise: Self.answer) {
            $0.limits.total = 1
        }
        bed.loader.perform(.make("/blocker"))
        _ = await bed.attempt(0)
        let tokens = bed.service.makeFactory().makeDataLoader()
        let isBlocked = HeldFetch<AccessToken>()
        let authoriser = TokenAuthoriser(hosts: ["origin.test"], clock: bed.clock) {
            [weak tokens] previous in
            _ = try await isBlocked(previous)
            let request = DataLoaderRequest.make("/token", host: "https://login.test") {
                $0.headers["X-Password"] = "secret"
            }
            let body = try await tokens?.response(for: request).body
            return AccessToken(String(decoding: body ?? Data(), as: UTF8.self))
        }
        let loader = bed.service.makeFactory(authorisers: [authoriser]).makeDataLoader()
        let response = Task { try await loader.response(for: Self.resource) }
        await isBlocked.call(0).answer(AccessToken("go"))
        // The one connection there may be is taken.
        let attempts = await bed.transport.attempts(2)
        #expect(attempts[1].request.url.path == "/token")
        let entries = await bed.observer.entries(1)
        #expect(entries[0].response.request.url.path == "/token")
        #expect(!entries[0].response.request.headers.contains("X-Password"))
        bed.service.cancelAllLoads()
        _ = await response.result
    }
}

/// What a fetch throws reaches who awaits the load.
@Suite struct FetchErrorTests {
    private struct Broken: Error {}

    private func thrown(by error: any Error) async -> DataLoaderError? {
        let authoriser = TokenAuthoriser(hosts: ["origin.test"], clock: ManualClock()) { _ in
            throw error
        }
        let bed = TestBed(authorisers: [authoriser])
        do {
            _ = try await bed.loader.response(for: .make(host: "https://origin.test"))
            return nil
        } catch {
            return error as? DataLoaderError
        }
    }

    @Test func `the error that is thrown names an error of the library and carries it`() async {
        let expired = DataLoaderError.certificate(reason: "expired yesterday")
        let error = await thrown(by: expired)
        #expect(
            error?.kind
                == .cannotAuthenticate(
                    reason: "token: a certificate was not accepted: expired yesterday"))
        #expect(error?.underlyingError as? DataLoaderError == expired)
    }

    @Test func `the error that is thrown names the type of a foreign error and carries it`() async {
        let error = await thrown(by: Broken())
        #expect(error?.kind == .cannotAuthenticate(reason: "token failed: Broken"))
        #expect(error?.underlyingError is Broken)
    }
}

/// Loads something for each request that it signs, and once more after its answer.
private final class LoadingSigner: Authoriser {
    let isAsked = EventRecorder<Void>()
    let mayLoad = EventRecorder<Void>()
    let isOver = EventRecorder<Void>()
    let late = EventRecorder<DataLoaderError?>()
    private let loader: DataLoader

    init(_ loader: DataLoader) {
        self.loader = loader
    }

    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        .later { [self] in try await authorised(request) }
    }

    private func authorised(_ request: DataLoaderRequest) async throws -> DataLoaderRequest {
        isAsked.record(())
        _ = await mayLoad.first(1)
        Task {
            _ = await isOver.first(1)
            await performLate()
        }
        let key = DataLoaderRequest.make("/token", host: "https://login.test")
        let body = try await loader.response(for: key).body
        var signed = request
        let token = String(decoding: body ?? Data(), as: UTF8.self)
        signed.headers["Authorization"] = "Bearer " + token
        return signed
    }

    /// Performs what it is told to, and notes how that ended.
    func performLate() async {
        do {
            _ = try await loader.response(for: .make("/token"))
            late.record(nil)
        } catch {
            late.record(error as? DataLoaderError)
        }
    }
}
