// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import InMemoryLogging
import Logging
@testable import SwiftServerAdapters
import Testing

@Suite(.timeLimit(.minutes(1))) struct LoggingSinkTests {
    private typealias Entry = InMemoryLogHandler.Entry

    /// The entries of what a service does.
    private func entries(
        _ answers: ScriptedAnswer..., of body: (AdapterBed) async -> Void
    ) async -> [Entry] {
        let handler = InMemoryLogHandler()
        let sink = LoggingSink(Logger(label: "loads") { _ in handler })
        let bed = AdapterBed(answers)
        bed.service.addConsumptionObserver(sink, on: bed.queue)
        await body(bed)
        await bed.end()
        withExtendedLifetime(sink) {}
        return handler.entries
    }

    @Test func `a load that succeeds is information with its figures`() async throws {
        let body = Data("hello".utf8)
        let entries = await entries(.respond(status: 200, body: body)) { bed in
            #expect(await bed.error(of: .make()) == nil)
        }
        let entry = try #require(entries.first)
        #expect(entries.count == 1)
        #expect(entry.level == .info)
        #expect(entry.message == "Load succeeded")
        #expect(entry.metadata["source"] == "feed")
        #expect(entry.metadata["http.request.method"] == "GET")
        #expect(entry.metadata["url.full"] == "https://api.test/feed?…")
        #expect(entry.metadata["http.response.status_code"] == "200")
        #expect(entry.metadata["attempts"] == "1")
        #expect(entry.metadata["bytes.down"] == "5")
        #expect(entry.metadata["error.type"] == nil)
        #expect(entry.metadata["load"] != "0")
    }

    @Test func `a load that fails is a warning with the kind of its error`() async throws {
        let entries = await entries(.fail(.tls), .respond(status: 404)) { bed in
            #expect(await bed.error(of: .make()) == .tls)
            _ = await bed.error(of: .make())
        }
        try #require(entries.count == 2)
        #expect(entries.map(\.level) == [.warning, .warning])
        #expect(entries.map(\.message) == ["Load failed", "Load failed"])
        #expect(entries[0].metadata["error.type"] == "tls")
        #expect(entries[0].metadata["http.response.status_code"] == nil)
        #expect(entries[1].metadata["error.type"] == "404")
        #expect(entries[1].metadata["http.response.status_code"] == "404")
    }

    @Test func `a load that is cancelled is information without an error`() async throws {
        let entries = await entries { await $0.cancel(.make()) }
        let entry = try #require(entries.first)
        #expect(entry.level == .info)
        #expect(entry.message == "Load cancelled")
        #expect(entry.metadata["error.type"] == nil)
    }

    @Test func `a load that is retried and redirected is one entry with counts`() async throws {
        let entries = await entries(
            .fail(.connectRefused),
            .respond(status: 302, headers: ["Location": "https://other.test/x?key=s3cret"]),
            .respond(status: 200)
        ) { bed in
            var request = DataLoaderRequest.make()
            request.maximumRetryCount = 1
            #expect(await bed.error(of: request) == nil)
        }
        let entry = try #require(entries.first)
        #expect(entries.count == 1)
        #expect(entry.metadata["attempts"] == "3")
        #expect(entry.metadata["retries"] == "1")
        #expect(entry.metadata["redirects"] == "1")
    }

    @Test func `no entry has a query or a header value`() async {
        let entries = await entries(
            .respond(status: 200, headers: ["Set-Cookie": "s3cret"], body: Data("s3cret".utf8)),
            .fail(.tls)
        ) { bed in
            _ = await bed.error(of: .make())
            _ = await bed.error(of: .make())
            await bed.cancel(.make())
        }
        #expect(entries.count == 3)
        #expect(!entries.contains { "\($0)".contains("s3cret") })
    }

    @Test func `an entry has the template of a URL, and not its path`() async throws {
        var request = DataLoaderRequest.make()
        request[option: URLTemplate.self] = "/feed/{token}"
        let entries = await entries(.respond(status: 200)) { [request] bed in
            #expect(await bed.error(of: request) == nil)
        }
        let entry = try #require(entries.first)
        #expect(entry.metadata["url.template"] == "/feed/{token}")
        #expect(entry.metadata["url.full"] == nil)
    }

    @Test func `a source cannot begin another line`() async throws {
        let entries = await entries(.respond(status: 200)) { bed in
            _ = await bed.error(of: .make(source: "a\nb\u{1B}[2J\u{202E}\u{2028}ü"))
        }
        #expect(try #require(entries.first).metadata["source"] == "a?b?[2J??ü")
    }
}
