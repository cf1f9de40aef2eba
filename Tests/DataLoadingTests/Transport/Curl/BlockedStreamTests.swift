// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Dispatch
    import Foundation
    import Testing

    extension SocketTests {
        /// Streams that block their readers and cannot be interrupted.
        @Suite struct BlockedStreamTests {
            @Test func `an upload whose body does not open ends at the connect limit`() async throws
            {
                let release = DispatchSemaphore(value: 0)
                defer { release.signal() }
                var attempt = TransportRequest(method: .put, url: testURL("http://127.0.0.1:1/"))
                attempt.connectTimeout = .milliseconds(50)
                attempt.body = .stream {
                    release.wait()
                    return InputStream(data: Data())
                }
                let record = await CurlTransport().run(attempt)
                #expect(record.failure?.sent == .nothingWritten)
                guard case .requestBody = record.error?.kind else {
                    Issue.record("\(String(describing: record.error))")
                    return
                }
            }

            @Test func `the number of blocked readers never exceeds its limit`() async throws {
                let release = DispatchSemaphore(value: 0)
                let opened = EventRecorder<Void>()
                let server = try LoopbackServer { _ in .ok("fine") }
                let transport = CurlTransport()
                var attempt = TransportRequest(method: .put, url: server.url())
                attempt.body = .stream {
                    opened.record(())
                    release.wait()
                    return InputStream(data: Data("body".utf8))
                }
                attempt.connectTimeout = .seconds(300)
                let limit = BodyReaders.limit
                var sinks: [AttemptRecorder] = []
                func start() {
                    sinks.append(AttemptRecorder())
                    _ = transport.start(attempt, sink: sinks[sinks.count - 1])
                }
                for _ in 0..<limit { start() }
                _ = await opened.first(limit)
                attempt.connectTimeout = .milliseconds(1_500)
                for _ in 0..<10 { start() }
                for sink in sinks.suffix(10) {
                    let record = await sink.ended()
                    #expect(record.error == BodyReaders.refusal)
                    #expect(record.failure?.sent == .nothingWritten)
                }
                #expect(opened.elements.count == limit)
                // Bodies in memory need no reader.
                attempt.body = .data(Data("body".utf8))
                attempt.connectTimeout = .seconds(300)
                #expect(await transport.run(attempt).text == "fine")
                for _ in sinks { release.signal() }
                for sink in sinks.prefix(limit) { #expect(await sink.ended().text == "fine") }
            }
        }
    }
#endif
