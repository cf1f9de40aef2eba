// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Testing

    @Suite struct CurlTaskTests {
        private func task() throws -> CurlTask {
            let wakeEvent = try #require(EventDescriptor())
            return CurlTask(
                request: try TransportRequest(url: .host("a.test")), sink: AttemptRecorder(),
                mailbox: LoopMailbox(wakeEvent: wakeEvent))
        }

        @Test func `a request that was unsent when it was cancelled is never sent`() throws {
            let task = try task()
            defer { _ = task.mailbox.close() }
            #expect(!task.mayHaveSent)
            task.cancel()
            #expect(!task.beginSending())
            #expect(!task.mayHaveSent)
            #expect(task.isCancelled)
        }

        @Test func `a request that was sent stays sent after a cancel`() throws {
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
