// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCurl
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// A killed process cannot remove its unfinished files; the next process does.
@Suite struct LeftoverPartTests {
    private let directory = TemporaryDirectory()

    private func name() -> String { ".dataloading-\(UUID().uuidString).part" }

    private func load(_ file: String) async throws {
        let bed = TestBed(otherwise: .respond(status: 200, body: Data("new".utf8)))
        var request = DataLoaderRequest.make()
        request.responseSink = .file(directory.url(file))
        #expect(try await bed.loader.response(for: request).error == nil)
    }

    @Test func `the unfinished file of a dead process is removed, and other files are kept`()
        async throws
    {
        let dead = name()
        let locked = name()
        let strangers = [".dataloading-x.part", "\(UUID().uuidString).part", "file"]
        for name in [dead, locked] + strangers { try directory.write(Data("old".utf8), to: name) }
        let link = name()
        try FileManager.default.createSymbolicLink(
            at: directory.url(link), withDestinationURL: directory.url("file"))
        let descriptor = open(directory.url(locked).path, O_RDONLY | O_CLOEXEC)
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        defer { close(descriptor) }
        try await load("other")
        #expect(directory.names == ([locked, link, "other"] + strangers).sorted())
    }

    @Test func `the unfinished file of a running load is not removed by another load`() async throws
    {
        let bed = TestBed()
        var request = DataLoaderRequest.make()
        request.responseSink = .file(directory.url("slow"))
        bed.loader.perform(request)
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(1_000))
        bed.settle()
        while directory.names.isEmpty { await Task.yield() }
        UnfinishedFiles.forgetSearches()
        try await load("other")
        #expect(directory.names.count == 2)
        attempt.end()
        #expect(await bed.outcome()?.response?.error == nil)
        #expect(directory.names == ["other", "slow"])
    }

    #if os(Linux)
        @Test func `the unfinished file of a killed process is removed by the next process`()
            async throws
        {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = directory.url("file").path as String] in
                let file = URL(fileURLWithPath: path)
                var sink = FileSink(file, synchronizes: false)
                try sink.begin()
                try sink.write(Data("half".utf8))
                kill(getpid(), SIGKILL)
            }
            #expect(directory.names.count == 1)
            try await load("other")
            #expect(directory.names == ["other"])
        }
    #endif
}
