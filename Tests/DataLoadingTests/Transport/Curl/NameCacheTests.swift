// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    @Suite struct NameCacheTests {
        private let second: Int64 = 1_000_000_000

        private func task() throws -> CurlTask {
            let bell = try #require(EventDescriptor())
            return CurlTask(
                request: try TransportRequest(url: .host("a.test")), sink: AttemptRecorder(),
                mailbox: LoopMailbox(bell: bell))
        }

        @Test func `keeps addresses for a minute`() throws {
            var cache = NameCache()
            let task = try task()
            #expect(cache.find("a", for: task, now: 0).isNew)
            #expect(cache.resolved("a", .addresses(["1.2.3.4", "[::1]"]), now: 0).count == 1)
            #expect(cache.find("a", for: task, now: 59 * second).addresses == "1.2.3.4,[::1]")
            #expect(cache.find("a", for: task, now: 60 * second).isNew)
        }

        @Test func `keeps a failure for five seconds`() throws {
            var cache = NameCache()
            let task = try task()
            _ = cache.find("a", for: task, now: 0)
            _ = cache.resolved("a", .unknown, now: 0)
            #expect(cache.find("a", for: task, now: 4 * second).error == .dns)
            #expect(cache.find("a", for: task, now: 5 * second).isNew)
        }

        @Test func `keeps nothing of a look-up that had no resources`() throws {
            var cache = NameCache()
            let task = try task()
            _ = cache.find("a", for: task, now: 0)
            #expect(cache.resolved("a", .outOfResources("x"), now: 0).count == 1)
            #expect(cache.failure("a") == .resources(reason: "x"))
            #expect(cache.find("a", for: task, now: 0).isNew)
        }

        @Test func `joins equal look-ups, and lets a waiter go`() throws {
            var cache = NameCache()
            let (first, second) = (try task(), try task())
            #expect(cache.find("a", for: first, now: 0).isNew)
            #expect(!cache.find("a", for: second, now: 0).isNew)
            cache.stopWaiting(first, for: "a")
            let waiting = cache.resolved("a", .unknown, now: 0)
            #expect(waiting.count == 1 && waiting[0] === second)
        }

        @Test func `forgets what is idle, and never what is waited for`() throws {
            var cache = NameCache()
            let task = try task()
            _ = cache.find("waiting", for: task, now: 0)
            for number in 0..<3_000 {
                let now = Int64(number) * second
                _ = cache.find("\(number)", for: task, now: now)
                _ = cache.resolved("\(number)", .unknown, now: now)
            }
            #expect(cache.count <= NameCache.entryLimit)
            #expect(cache.resolved("waiting", .unknown, now: 0).count == 1)
        }
    }

    extension NameCache.Finding {
        fileprivate var isNew: Bool { if case .pending(true) = self { true } else { false } }
        fileprivate var addresses: String? {
            if case .addresses(let text) = self { text } else { nil }
        }
        fileprivate var error: DataLoaderError? {
            if case .failed(let error) = self { error } else { nil }
        }
    }
#endif
