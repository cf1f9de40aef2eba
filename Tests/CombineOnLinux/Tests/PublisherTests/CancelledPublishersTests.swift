// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Combine
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(15))) struct CancelledPublishersTests {
    /// 20,000, or twice as many as `PROPERTY_CASES` in the environment says.
    private static let pairs = propertyCases * 2

    private func subscribe(_ index: Int, _ bed: TestBed, _ canary: Canary) -> AnyCancellable {
        let request = DataLoaderRequest.make("/\(index % 3)")
        switch index % 5 {
        case 0: return bed.loader.publisher(for: request).results.sink { _ in _ = canary }
        case 1:
            let chunks = bed.loader.chunkPublisher(for: request)
            return chunks.sink(receiveCompletion: { _ in _ = canary }, receiveValue: { _ in })
        case 2:
            let typed = Request(request) { _ in _ = canary }
            return bed.loader.publisher(for: typed).results.sink { _ in }
        case 3:
            let call = bed.loader.request(request.url).validate { _ in _ = canary }
            return call.publisher().results.sink { _ in }
        default:
            let connection = Connection(baseURL: request.url, loader: bed.loader)
            let typed = Request(Endpoint("a")) { _ in _ = canary }
            return connection.publisher(for: typed).results.sink { _ in }
        }
    }

    // Some loads are cancelled while they begin, others with a part of their body, and others
    // when they have ended.
    @Test func `subscriptions that are started and cancelled leave nothing`() async {
        let size = 500
        let rounds = max(2, Self.pairs / size)
        let gone = EventRecorder<Void>()
        for round in 0..<rounds {
            let bed = TestBed(
                otherwise: .run { attempt in
                    switch attempt.request.url.lastPathComponent {
                    case "0": attempt.respond(status: 200, body: Data("body".utf8))
                    case "1":
                        attempt.sendHead(status: 200)
                        attempt.send(Data("part".utf8))
                    default: break
                    }
                })
            var subscriptions = (0..<size).map { subscribe($0, bed, Canary(gone)) }
            if round % 2 == 0 { bed.settle() }
            subscriptions.removeAll()
            bed.expectNothingLeft()
        }
        #expect(await gone.first(rounds * size).count == rounds * size)
    }
}
