// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    import DataLoadingTesting
    import Testing

    @Suite struct CurlTaskTests {
        private func task() throws -> CurlTask {
            let bell = try #require(EventDescriptor())
            return CurlTask(
                request: try TransportRequest(url: .host("a.test")), sink: AttemptRecorder(),
                mailbox: LoopMailbox(bell: bell))
        }

        @Test func `what was not sent when it was cancelled is not sent later either`() throws {
            let task = try task()
            defer { _ = task.mailbox.close() }
            #expect(!task.mayHaveSent)
            task.cancel()
            #expect(!task.beginSending())
            #expect(!task.mayHaveSent)
            #expect(task.isCancelled)
        }

        @Test func `what was sent stays sent`() throws {
            let task = try task()
            defer { _ = task.mailbox.close() }
            #expect(task.beginSending())
            #expect(task.beginSending())
            task.cancel()
            #expect(!task.beginSending())
            #expect(task.mayHaveSent)
        }
    }
#endif
