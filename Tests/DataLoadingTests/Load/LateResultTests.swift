// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// The load drops what a transport reports about an abandoned attempt.
@Suite struct LateResultTests {
    /// The event that ends the load while its attempt is open.
    enum Ending: CaseIterable, Sendable {
        case token, loader, service, drop, deadline, reset

        /// The kind of the load's error.
        var kind: String {
            switch self {
            case .token, .loader, .service, .drop: "cancelled"
            case .deadline: "timed_out"
            case .reset: "reset"
            }
        }
    }

    /// Every report that a transport can make before the end of an attempt.
    private static let news: [@Sendable (any TransportSink) -> Void] = [
        { $0.didSend(1, of: 2) },
        { $0.didReceive(head(200)) },
        { $0.didReceive(head(302)) },
        { $0.didReceive(head(503)) },
        { $0.didReceive(patternBytes(100_000)) },
    ]

    /// Every way in which an attempt can end.
    private static let ends: [@Sendable (any TransportSink) -> Void] = [
        { $0.didEnd(TransportReport()) },
        { $0.didFail(TransportFailure(.cancelled, sent: .written)) },
        { $0.didFail(TransportFailure(.connectionReset, sent: .nothingWritten)) },
        { $0.didFail(TransportFailure(.noResponse, sent: .written)) },
    ]

    private static func head(_ status: Int) -> DataLoading.ResponseHead {
        DataLoading.ResponseHead(
            status: HTTPStatus(rawValue: status), headers: ["Location": "/late"])
    }

    @Test(arguments: Ending.allCases, [false, true])
    func `a result that arrives after its load has ended changes nothing`(
        ending: Ending, isInChunks: Bool
    ) async {
        for end in Self.ends {
            let transport = ManualTransport()
            let bed = TestBed { $0.transport = transport }
            var loader: DataLoader? = bed.factory.makeDataLoader(
                delegate: bed.delegate, delivery: .ofTests)
            let request = DataLoaderRequest.make { request in
                request.timeout = .seconds(5)
                request.chunks = isInChunks
                request.retryPolicy = .immediately(maximumRetries: 3)
            }
            let queue = loader?.queue
            let token = loader?.perform(request)
            let attempt = await transport.attempts.first(1)[0]
            switch ending {
            case .token: token?.cancel()
            case .loader: loader?.cancelAllLoads()
            case .service: bed.service.cancelAllLoads()
            case .drop: loader = nil
            case .deadline: bed.advance(.seconds(5))
            case .reset: await bed.factory.reset()
            }
            for tell in Self.news { tell(attempt.sink) }
            end(attempt.sink)
            // A transport that reports after an attempt's end is broken and must not harm the load.
            for tell in Self.news + Self.ends { tell(attempt.sink) }
            _ = await bed.observer.entries(1)
            // The loader's queue may still be ending its load.
            queue?.sync {}
            bed.settle()
            #expect(bed.observer.entries.map(\.response.error?.name) == [ending.kind])
            #expect(bed.delegate.events.count == (ending == .drop ? 0 : 1))
            #expect(bed.delegate.events.allSatisfy { $0.isTerminal })
            #expect(transport.attempts.elements.count == 1)
            transport.letGo()
            withExtendedLifetime(loader) {}
            loader = nil
            bed.expectNothingLeft()
        }
    }

    @Test(arguments: [false, true])
    func `a result of an abandoned attempt is not taken for that of the next attempt`(
        isInChunks: Bool
    ) async {
        for late in Self.news + Self.ends {
            let transport = ManualTransport()
            let bed = TestBed { $0.transport = transport }
            bed.loader.perform(
                .make { request in
                    request.chunks = isInChunks
                    request.retryPolicy = .immediately(maximumRetries: 1)
                })
            let first = await transport.attempts.first(1)[0]
            first.sink.didFail(TransportFailure(.connectionReset, sent: .written))
            let second = await transport.attempts.first(2)[1]
            late(first.sink)
            second.sink.didReceive(Self.head(200))
            late(first.sink)
            second.sink.didReceive(Data("new".utf8))
            late(first.sink)
            second.sink.didEnd(TransportReport())
            late(first.sink)
            bed.settle()
            let response = bed.ended?.response
            #expect(response?.statusCode == .ok)
            #expect(response?.error == nil)
            #expect(response?.metrics.attempts == 2)
            #expect((isInChunks ? bed.delegate.body : response?.body) == Data("new".utf8))
            #expect(bed.delegate.events.count == (isInChunks ? 3 : 1))
            #expect(bed.observer.entries.count == 1)
            #expect(transport.attempts.elements.count == 2)
            transport.letGo()
            bed.expectNothingLeft()
        }
    }
}
