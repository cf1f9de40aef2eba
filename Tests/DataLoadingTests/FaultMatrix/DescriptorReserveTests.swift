// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    @testable import DataLoading
    @testable import DataLoadingTransport
    @testable import DataLoadingCurl
    @testable import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Processes whose loads would take all descriptors, each a process of its own.
        @Suite struct DescriptorReserveTests {
            // While work waits in a queue, Dispatch looks at its threads every second, and needs a
            // descriptor for that.
            @Test func `a process goes on while its loads take all descriptors that they may have`()
                async
            {
                await #expect(processExitsWith: .success) {
                    try TakenDescriptors.lowerLimit(to: 128)
                    let hole = try LoopbackBlackHole()
                    let transport = CurlTransport(lookup: { _ in .unknown })
                    var attempt = TransportRequest(url: hole.url())
                    attempt.connectTimeout = .milliseconds(2_500)
                    let isOver = Locked(false)
                    for _ in 0..<256 {
                        DispatchQueue.global(qos: .utility).async {
                            while !isOver.withLock({ $0 }) {}
                        }
                    }
                    let records = await transport.run(400, attempt)
                    isOver.withLock { $0 = true }
                    try #require(records.count { $0.error?.isResources == true } > 270)
                    try #require(records.count { $0.error == .connectTimeout } > 40)
                    try #require(
                        records.allSatisfy {
                            $0.error?.isResources == true || $0.error == .connectTimeout
                        })
                    await transport.shutDown()
                }
            }

            @Test func `free descriptors are found above and below those that are open`() async {
                await #expect(processExitsWith: .success) {
                    try TakenDescriptors.lowerLimit(to: 256)
                    for number: Int32 in 192..<256 { try #require(dup2(0, number) == number) }
                    try #require(DescriptorReserve.hasRoom)
                    // Sixteen are left for Dispatch.
                    while case let copy = dup(0), copy < 175 { try #require(copy >= 0) }
                    try #require(!DescriptorReserve.hasRoom)
                    for number: Int32 in 64..<128 { close(number) }
                    try #require(DescriptorReserve.hasRoom)
                }
            }

            @Test func `files of loads leave the last descriptors free, and nothing on the disk`()
                async
            {
                await #expect(processExitsWith: .success) {
                    let directory = TemporaryDirectory()
                    let upload = directory.url("upload")
                    try Data("a body".utf8).write(to: upload)
                    let request = DataLoaderRequest(url: testURL("http://origin.test/"))
                    let response = DataLoaderResponse(request: request, statusCode: .ok)
                    var part = ResumableFileSink(
                        directory.url("resumed"), for: request, limit: nil, sha256: nil)

                    let taken = try TakenDescriptors()
                    var sink = FileSink(directory.url("download"), synchronizes: false)
                    let uploads = #expect(throws: DataLoaderError.self) {
                        _ = try RequestBody.file(upload).openSource()
                    }
                    let downloads = #expect(throws: DataLoaderError.self) {
                        try sink.begin(response)
                    }
                    let resumed = #expect(throws: DataLoaderError.self) {
                        _ = try part.prepare { false }
                    }
                    taken.giveBack()
                    try #require(uploads?.isResources == true)
                    try #require(downloads?.isResources == true)
                    try #require(resumed?.isResources == true)
                    try #require(directory.names == ["upload"])
                    try sink.begin(response)
                    try sink.write(Data("all".utf8))
                    try sink.commit()
                    try #require(directory.names == ["download", "upload"])
                }
            }
        }
    }
#endif
