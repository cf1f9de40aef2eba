// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension LongComputations {
    /// A non-idempotent request is never on the wire twice unless the caller allows it.
    @Suite struct SentOnceTests {
        @Test func `a POST is written once at most, whatever the server and its addresses do`() {
            property { generator in
                let bed = TestBed()
                if Bool.random(using: &generator) {
                    bed.service.resolver.setAddresses(
                        ["10.0.0.1", "10.0.0.2"], forHost: "origin.test")
                }
                bed.loader.perform(
                    .make { request in
                        request.method = [.post, .patch].randomElement(using: &generator) ?? .post
                        request.retryPolicy = .immediately(maximumRetries: 10)
                        request.waitsForConnectivity = Bool.random(using: &generator)
                        request.body = .data(Data("body".utf8))
                    })
                var written = 0
                for index in 0..<30 where bed.transport.attempts.count > index {
                    let attempt = bed.transport.attempts[index]
                    switch Int.random(in: 0..<6, using: &generator) {
                    case 0:
                        let errors: [DataLoaderError.Kind] = [
                            .dns, .connectRefused, .connectTimeout, .tls, .connectionReset,
                        ]
                        attempt.fail(errors.randomElement(using: &generator) ?? .dns)
                    case 1:
                        written += 1
                        let errors: [DataLoaderError.Kind] = [
                            .connectionReset, .noResponse, .idleTimeout, .truncatedHead, .dns, .tls,
                            .connectTimeout, .http2(reason: "x"), .transport(reason: "x"),
                        ]
                        attempt.fail(
                            errors.randomElement(using: &generator) ?? .noResponse, sent: .written)
                    case 2:
                        written += 1
                        let statuses = [200, 400, 408, 425, 500, 502, 503, 504]
                        attempt.respond(status: statuses.randomElement(using: &generator) ?? 500)
                    case 3:
                        written += 1
                        attempt.sendHead(status: 200)
                        attempt.fail(.truncatedBody, sent: .headReceived)
                    case 4:
                        // Refused before it was processed.
                        attempt.respond(status: 429)
                    default:
                        bed.advance(.seconds(20))
                    }
                    while bed.passPause() {}
                }
                bed.loader.cancelAllLoads()
                bed.settle()
                if written > 1 { return "written \(written) times" }
                if bed.delegate.outcomeCount != 1 { return "\(bed.delegate.events)" }
                return nil
            }
        }
    }
}

extension RecordingDelegate {
    /// The number of loads that have ended.
    var outcomeCount: Int { events.count { $0.isTerminal } }
}
