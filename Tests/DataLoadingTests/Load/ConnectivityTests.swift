// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

/// When a load waits for a connection.
@Suite struct ConnectivityTests {
    @Test func `a load waits for connectivity until its deadline and tells its delegate once`() {
        let bed = TestBed(
            [.fail(.dns), .fail(.connectRefused), .fail(.connectTimeout)],
            otherwise: .respond(status: 200))
        bed.loader.perform(.make { $0.waitsForConnectivity = true })
        while bed.passPause() {}
        #expect(bed.error == nil)
        #expect(bed.transport.attempts.count == 4)
        let waits = bed.delegate.events.count {
            if case .waitingForConnectivity = $0 { true } else { false }
        }
        #expect(waits == 1)
        bed.expectNothingLeft()
    }

    @Test(arguments: [false, true])
    func `a load also waits for the connection that its authoriser has not`(
        answersLater: Bool
    ) async {
        let bed = TestBed(
            otherwise: .respond(status: 200),
            authorisers: [
                FailingAuthoriser(
                    [
                        AuthorisationError.load(.dns), DataLoaderError.connectRefused,
                        AuthorisationError.timedOut,
                        AuthorisationError.load(
                            .timedOut(after: .seconds(30), mayHaveBeenProcessed: false)),
                    ] as [(any Error)?],
                    answersLater: answersLater)
            ])
        bed.loader.perform(
            .make { request in
                request.method = .post
                request.waitsForConnectivity = true
            })
        await eventually {
            bed.passPause()
            return !bed.transport.attempts.isEmpty
                || bed.delegate.events.contains { $0.isTerminal }
        }
        #expect(await bed.outcome()?.response?.error == nil)
        let attempts = bed.transport.attempts
        #expect(attempts.map { $0.request.headers["Authorization"] } == ["Bearer late"])
        #expect(attempts.map(\.request.context.cause) == [nil])
        let waits = bed.delegate.events.count {
            if case .waitingForConnectivity = $0 { true } else { false }
        }
        #expect(waits == 1)
        bed.expectNothingLeft()
    }

    @Test(arguments: [
        AuthorisationError.refused(code: "invalid_grant"), .noCredentials, .tooManyRefreshes,
        .load(.status(.unauthorised)), .load(.certificate(reason: "x")),
        .load(.timedOut(after: .seconds(30), mayHaveBeenProcessed: true)),
    ])
    func `a load does not wait where an authoriser lacks no connection`(
        reason: AuthorisationError
    ) async {
        let bed = TestBed(
            otherwise: .respond(status: 200), authorisers: [FailingAuthoriser([reason])])
        bed.loader.perform(.make { $0.waitsForConnectivity = true })
        let error = await bed.outcome()?.response?.error
        #expect(error?.underlyingError as? AuthorisationError == reason)
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `a load does not wait for connectivity after other failures`() {
        for answer in [
            ScriptedAnswer.fail(.connectionReset, sent: .written), .fail(.certificate(reason: "x")),
            .respond(status: 503), .fail(.dns, sent: .written),
        ] {
            let bed = TestBed([answer], otherwise: .respond(status: 200))
            bed.loader.perform(.make { $0.waitsForConnectivity = true })
            bed.settle()
            #expect(bed.transport.attempts.count == 1)
            #expect(bed.delegate.events.count == 1)
        }
    }

    @Test func `an attempt after a wait has the cause that it had before`() async {
        let bed = TestBed(
            [.respond(status: 302, headers: ["Location": "/b"])], otherwise: .respond(status: 200),
            authorisers: [FailingAuthoriser([nil, AuthorisationError.load(.dns)])])
        bed.loader.perform(.make { $0.waitsForConnectivity = true })
        bed.settle()
        #expect(bed.transport.attempts.count == 1)
        bed.passPause()
        #expect(await bed.outcome()?.response?.error == nil)
        #expect(bed.transport.attempts.map(\.request.context.cause) == [nil, .redirect])
        bed.expectNothingLeft()
    }
}
