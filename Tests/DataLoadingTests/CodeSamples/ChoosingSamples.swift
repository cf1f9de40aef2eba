// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples of the article about the ways to load.

@Suite struct ChoosingSamples {
    private struct News: Decodable, Sendable {
        let title: String
    }

    private let url = testURL("http://origin.test/news")

    private func bed() -> TestBed {
        TestBed(otherwise: .respond(status: 200, body: Data("{\"title\": \"A\"}\n".utf8)))
    }

    @Test func `the samples of await, a call and chunks load one body each`() async throws {
        let bed = bed()
        #expect(try await decode(bed.loader) == "A")
        #expect(try await count(bed.factory) == 1)
        let loader = bed.loader
        let response = try await loader.response(for: DataLoaderRequest(url: url))
        print(response.statusCode == 200, response.body?.count ?? 0)
    }

    private func decode(_ loader: DataLoader) async throws -> String {
        let news = try await loader.request(url, sourceIdentifier: "news")
            .validateStatusCode()
            .responseDecodable(News.self)
        return news.title
    }

    private func count(_ factory: DataLoaderFactory) async throws -> Int {
        var lines = 0
        for try await chunk in factory.makeDataLoader().chunks(for: DataLoaderRequest(url: url)) {
            lines += chunk.count { $0 == UInt8(ascii: "\n") }
        }
        return lines
    }

    @Test func `the sample of outcomes tells loads apart by their tokens`() async {
        let bed = bed()
        let loader = bed.loader
        let urls = [url]
        let outcomes = loader.outcomes
        let tokens = urls.map { loader.perform(DataLoaderRequest(url: $0)) }
        for await outcome in outcomes {
            let index = tokens.firstIndex { $0 === outcome.token }
            print(index ?? -1, outcome.response.statusCode == 200)
            if index == tokens.indices.last { break }
        }
        bed.expectNothingLeft()
    }

    @Test func `the sample of a delegate is told of its load on the main queue`() {
        let bed = bed()
        let factory = bed.factory
        let reader = FeedReader()
        let loader = factory.makeDataLoader(delegate: reader, delegateQueue: .main)
        let token = loader.perform(DataLoaderRequest(url: url))
        token.cancel()
        loader.cancelAllLoads()
    }
}
