// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Combine
import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension Request where Value == [String] {
    /// The names that begin with a text.
    static func suggestions(for text: String) -> Self {
        Request(Endpoint("suggestions", query: ["q": text]))
    }
}

/// Suggestions for what somebody types.
final class SuggestionList<Ticks: Scheduler> {
    let query = PassthroughSubject<String, Never>()
    private var subscription: AnyCancellable?

    init(connection: Connection, on scheduler: Ticks, show: @escaping ([String]) -> Void) {
        subscription =
            query
            .debounce(for: .milliseconds(300), scheduler: scheduler)
            .removeDuplicates()
            .map { connection.publisher(for: .suggestions(for: $0)).results }
            .switchToLatest()
            .sink { result in
                if case .success(let names) = result { show(names) }
            }
    }
}

@Suite(.timeLimit(.minutes(5))) struct PublisherSamples {
    @Test func `the sample of a search field loads once for many letters, and shows the last`()
        async
    {
        let bed = TestBed()
        let scheduler = VirtualScheduler()
        let shown = EventRecorder<[String]>()
        let connection = Connection(
            baseURL: testURL("http://origin.test/"), loader: bed.loader)
        let list = SuggestionList(connection: connection, on: scheduler) { shown.record($0) }
        for text in ["l", "lo", "loa"] {
            list.query.send(text)
            scheduler.advance(by: .milliseconds(100))
        }
        bed.settle()
        #expect(bed.transport.attempts.isEmpty)
        scheduler.advance(by: .milliseconds(300))
        let outdated = await bed.attempt(0)
        #expect(outdated.request.url.query == "q=loa")
        list.query.send("load")
        scheduler.advance(by: .milliseconds(300))
        await outdated.waitUntilCancelled()
        let last = await bed.attempt(1)
        last.respond(status: 200, body: Data(#"["loader"]"#.utf8))
        #expect(await shown.first(1) == [["loader"]])
        // An error ends no pipeline.
        list.query.send("x")
        scheduler.advance(by: .milliseconds(300))
        await bed.attempt(2).fail(.connectionReset, sent: .written)
        bed.settle()
        list.query.send("y")
        scheduler.advance(by: .milliseconds(300))
        await bed.attempt(3).respond(status: 200, body: Data("[]".utf8))
        #expect(await shown.first(2) == [["loader"], []])
        bed.expectNothingLeft()
    }
}
