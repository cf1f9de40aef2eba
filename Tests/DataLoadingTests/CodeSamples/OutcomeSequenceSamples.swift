// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples of outcomes as a sequence, and of statuses.

actor FeedStore {
    private var feeds: [URL: Data] = [:]

    func read(_ outcomes: LoadOutcomes) async {
        for await outcome in outcomes {
            switch outcome.result {
            case .success(let response): feeds[response.request.url] = response.body
            case .failure(.cancelled): break
            case .failure(let error): print(outcome.request, "failed:", error.kind)
            }
        }
    }
}

extension FeedStore {
    var count: Int { feeds.count }
}

private func printStatus(of response: DataLoaderResponse) {
    switch response.statusCode {
    case 200: print("there it is")
    case .notFound: print("there is none")
    case nil: print("no answer:", response.error?.kind ?? "?")
    case let status?: print("status", status)
    }
}

@Suite struct OutcomeSequenceSamples {
    @Test func `the sample of outcomes stores a success in an actor`() async {
        let bed = TestBed([
            .respond(status: 200, body: Data("x".utf8)), .fail(.connectRefused),
        ])
        let store = FeedStore()
        let reading: Task<Void, Never>
        do {
            let loader = bed.factory.makeDataLoader()
            let outcomes = loader.outcomes
            reading = Task { await store.read(outcomes) }
            loader.perform(.make("/a"))
            loader.perform(.make("/b"))
            loader.perform(.make("/c")).cancel()
            await eventually { loader.currentRequests.isEmpty }
            loader.queue.sync {}
            withExtendedLifetime(loader) {}
        }
        await reading.value
        #expect(await store.count == 1)
    }

    @Test func `the sample of a status tells a status from no answer`() {
        for status in [200, 404, nil, 503] as [HTTPStatus?] {
            printStatus(of: DataLoaderResponse(request: .make(), statusCode: status))
        }
    }
}
