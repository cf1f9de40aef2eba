// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Dispatch
    import Foundation
    import Testing

    extension SocketTests {
        /// Bodies that block the thread that opens or reads them.
        @Suite struct BlockedBodyTests {
            // Dispatch has 255 threads for all serial queues.
            @Test(.timeLimit(.minutes(15)))
            func `300 uploads from a pipe without a writer block no thread`() async {
                await #expect(processExitsWith: .success) {
                    let directory = TemporaryDirectory()
                    let pipe = directory.url("pipe")
                    try #require(mkfifo(pipe.path, 0o600) == 0)
                    let server = try LoopbackServer { _ in .ok("fine") }
                    var configuration = DataLoaderService.Configuration()
                    configuration.transport = CurlTransport(lookup: { _ in .unknown })
                    let service = DataLoaderService(configuration: configuration)
                    let delegate = RecordingDelegate()
                    let loader = service.makeFactory().makeDataLoader(delegate: delegate)
                    var upload = DataLoaderRequest(url: server.url())
                    upload.method = .put
                    upload.body = .file(pipe)
                    upload.timeout = .milliseconds(10)
                    // As many at once as an origin may have, so that none waits for a slot.
                    for round in 1...38 {
                        for _ in 0..<8 { loader.perform(upload) }
                        let outcomes = await delegate.outcomes(8 * round)
                        try #require(outcomes.allSatisfy { $0.response?.error != nil })
                    }
                    try #require(server.requestCount == 0)
                    loader.perform(DataLoaderRequest(url: server.url()))
                    let last = await delegate.outcomes(305)[304]
                    try #require(last.response?.error == nil)
                    try #require(ProcessFigures.threads < 120)
                    await service.shutDown(gracePeriod: .zero)
                }
            }
        }
    }
#endif
