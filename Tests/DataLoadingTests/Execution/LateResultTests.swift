// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What a transport tells of an attempt that its load has left behind is dropped.
@Suite struct LateResultTests {
    /// What ends the load while its attempt is open.
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

    /// Everything that a transport can tell before the end of an attempt.
    private static let news: [@Sendable (any TransportSink) -> Void] = [
        { $0.didSend(1, of: 2) },
        { $0.didReceiveInformational(head(103)) },
        { $0.didReceive(head(200)) },
        { $0.didReceive(head(302)) },
        { $0.didReceive(head(503)) },
        { $0.didReceive(patternBytes(100_000)) },
    ]

    /// Every way in which an attempt can end.
    private static let ends: [@Sendable (any TransportSink) -> Void] = [
        { $0.didEnd(TransportEnd()) },
        { $0.didFail(TransportFailure(.cancelled, sent: .written)) },
        { $0.didFail(TransportFailure(.connectionReset, sent: .nothingWritten)) },
        { $0.didFail(TransportFailure(.noResponse, sent: .written)) },
    ]

    private static func head(_ status: Int) -> DataLoading.ResponseHead {
        DataLoading.ResponseHead(
            status: HTTPStatus(rawValue: status), headers: ["Location": "/late"])
    }

    @Test(arguments: Ending.allCases, [false, true])
    func `a result that comes after the end of its load changes nothing`(
        ending: Ending, isInChunks: Bool
    ) async {
        for end in Self.ends {
            let transport = ManualTransport()
            let bed = TestBed { $0.transport = transport }
            var loader: DataLoader? = bed.factory.makeDataLoader(delegate: bed.delegate)
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
            // A transport that goes on after an attempt's end is broken, and harms only itself.
            for tell in Self.news + Self.ends { tell(attempt.sink) }
            _ = await bed.observer.entries(1)
            // The loader's queue, where its load ends, may still be at it.
            queue?.sync {}
            bed.settle()
            #expect(bed.observer.entries.map(\.response.error?.kind) == [ending.kind])
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
    func `a result of an attempt that was given up is not taken for the next one's`(
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
            second.sink.didEnd(TransportEnd())
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
