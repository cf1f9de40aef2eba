// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingCurl
    @testable import DataLoading
    @testable import DataLoadingTransport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// What libcurl has left in the socket of an upload, without a socket.
        @Suite struct EarlyResponseTests {
            private static let head = ["HTTP/1.1 413 No\r\n", "Content-Length: 2\r\n", "\r\n"]
            private static let proceed = ["HTTP/1.1 100 Continue\r\n", "\r\n"]
            private static let whole = head.joined() + "no"

            private let loop: CurlLoop
            private let transfer: CurlTransfer
            private let task: CurlTask
            private let sink = AttemptRecorder()

            init() throws {
                let loop = try CurlLoop.make()
                let transfer = try #require(CurlTransfer.make(for: loop))
                let url = try URL.host("a.test")
                var request = TransportRequest(method: .post, url: url)
                request.body = .data(Data("body".utf8))
                let task = CurlTask(request: request, sink: sink, mailbox: loop.mailbox)
                try transfer.begin(task)
                self.loop = loop
                self.transfer = transfer
                self.task = task
            }

            private func close() {
                transfer.end()
                transfer.free()
                loop.close()
            }

            /// Plays the lines that libcurl delivers, and what it leaves.
            private func receive(_ lines: [String], leaving rest: some Sequence<UInt8>) {
                for line in lines {
                    let isTaken = Array(line.utf8).withUnsafeBytes { transfer.receiveHeader($0) }
                    #expect(isTaken)
                }
                transfer.state.earlyResponse = Array(rest)
            }

            /// What libcurl has left.
            enum Rest: CaseIterable, Sendable {
                case finalHead, afterInformationalHead, bothHeads
            }

            @Test(arguments: Rest.allCases)
            func `a response of which libcurl has read no line is delivered`(rest: Rest) {
                defer { close() }
                switch rest {
                case .finalHead: receive([], leaving: Self.whole.utf8)
                case .afterInformationalHead: receive(Self.proceed, leaving: Self.whole.utf8)
                case .bothHeads: receive([], leaving: (Self.proceed.joined() + Self.whole).utf8)
                }
                #expect(transfer.readEarlyResponse() == nil)
                #expect(sink.record.head?.status.rawValue == 413)
                #expect(sink.record.text == "no")
            }

            @Test func `the body of a response whose head libcurl has read is delivered`() {
                defer { close() }
                receive(Self.head, leaving: "no".utf8)
                #expect(transfer.readEarlyResponse() == nil)
                #expect(sink.record.text == "no")
            }

            // libcurl keeps the beginning of a line to itself until the rest of it has come.
            @Test(arguments: 1..<38, [false, true])
            func `the rest of a head that has begun is not taken for a head`(
                count: Int, isSecond: Bool
            ) {
                defer { close() }
                var size = 0
                let lines = Self.head.prefix { line in
                    size += line.utf8.count
                    return size <= count
                }
                receive(
                    (isSecond ? Self.proceed : []) + lines,
                    leaving: Self.whole.utf8.dropFirst(count))
                #expect(transfer.readEarlyResponse() == .connectionReset)
                #expect(sink.record.head == nil)
            }

            @Test func `bytes behind those that libcurl holds back are not delivered`() {
                defer { close() }
                receive(Self.head, leaving: "no".utf8)
                transfer.state.isHeldBack = true
                #expect(transfer.readEarlyResponse() == .truncatedBody)
                #expect(sink.record.byteCount == 0)
            }

            @Test func `the rest of a response waits for a sink that is paused`() {
                defer { close() }
                receive(Self.head, leaving: "no".utf8)
                #expect(!transfer.holdsEarlyResponse(after: CurlTransfer.sendFailure))
                task.pause()
                #expect(transfer.holdsEarlyResponse(after: CurlTransfer.sendFailure))
                #expect(!transfer.holdsEarlyResponse(after: 56))
                task.resume()
                #expect(!transfer.holdsEarlyResponse(after: CurlTransfer.sendFailure))
                #expect(transfer.readEarlyResponse() == nil)
                #expect(sink.record.text == "no")
            }
        }
    }
#endif
