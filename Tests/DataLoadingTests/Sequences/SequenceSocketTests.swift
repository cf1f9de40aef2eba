// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        @Suite(.leavesNothing) struct SequenceSocketTests {
            @Test func `an event stream is read over sockets and loaded again`() async throws {
                let headers: HTTPHeaders = ["Content-Type": "text/event-stream"]
                let server = try LoopbackServer(
                    handler: .sequence([
                        .chunked(
                            ["retry: 100\nid: 1\nda", "ta: a\r", "\n\r\ndata: cut"],
                            headers: headers),
                        .steps(.reset),
                        .chunked(["id: 2\ndata: b\n\n"], headers: headers),
                        .status(204),
                    ]))
                let service = DataLoaderService()
                let loader = service.makeFactory().makeDataLoader()
                let request = DataLoaderRequest(url: server.url("/events"))
                var events: [ServerSentEvent] = []
                let timer = ExponentialTimer(
                    initialTime: .milliseconds(1), maxTime: .milliseconds(100))
                for try await event in loader.events(for: request, reconnect: timer) {
                    events.append(event)
                }
                #expect(events.map(\.data) == ["a", "b"])
                #expect(events.map(\.id) == ["1", "2"])
                await service.shutDown(gracePeriod: .zero)
                server.stop()
            }

            @Test func `100 MB of lines stay below 16 MiB and lose no line`() async {
                await #expect(processExitsWith: .success) {
                    let line = String(repeating: "x", count: 99) + "\n"
                    let piece = Data(String(repeating: line, count: 10_000).utf8)
                    let server = try LoopbackServer { _ in
                        .chunked(Array(repeating: .data(piece), count: 100))
                    }
                    let loader = DataLoaderService().makeFactory().makeDataLoader()
                    let before = ProcessFigures.residentBytes
                    ProcessFigures.resetPeak()
                    var count = 0
                    let request = DataLoaderRequest(url: server.url("/lines"))
                    for try await line in loader.lines(for: request) where line.utf8.count == 99 {
                        count += 1
                    }
                    guard count == 1_000_000 else { exit(2) }
                    guard
                        ProcessFigures.isSanitized
                            || ProcessFigures.peakResidentBytes - before < 16 * 1_048_576
                    else { exit(3) }
                }
            }
        }
    }
#endif
