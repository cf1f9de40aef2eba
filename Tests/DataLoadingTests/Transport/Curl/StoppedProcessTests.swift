// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingCurl
    import DataLoadingSupport
    @testable import DataLoadingTransport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// A process that is stopped for longer than the idle limit of its transfer, and continues.
        @Suite struct StoppedProcessTests {
            @Test func `a response that came while the process was stopped is delivered`()
                async throws
            {
                let (isLoading, isSent) = (LoopbackGate(), LoopbackGate())
                let process = Locked<pid_t?>(nil)
                let server = try LoopbackServer { request in
                    process.withLock { $0 = pid_t(request.path.dropFirst()) }
                    return .steps(
                        .head(200, headers: ["Content-Length": "4"]), .flush,
                        .pause(.milliseconds(200)), .open(isLoading), .pause(.milliseconds(1_500)),
                        .bytes("fine"), .flush, .open(isSent))
                }
                async let stop: Void = {
                    await isLoading.opened()
                    let process = process.withLock { $0 } ?? 0
                    guard process > 0 else { return }
                    kill(process, SIGSTOP)
                    await isSent.opened()
                    kill(process, SIGCONT)
                }()
                await #expect(processExitsWith: .success) {
                    [address = server.url("/").absoluteString as String] in
                    let url = testURL(address + "\(getpid())")
                    var attempt = TransportRequest(url: url)
                    attempt.idleTimeout = .seconds(1)
                    let record = await CurlTransport().run(attempt)
                    guard record.text == "fine", record.error == nil else { exit(1) }
                }
                await stop
            }
        }
    }
#endif
