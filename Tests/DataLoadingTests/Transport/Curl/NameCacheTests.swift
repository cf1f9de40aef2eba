// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    @Suite struct NameCacheTests {
        private let second: Int64 = 1_000_000_000

        private func task() throws -> CurlTask {
            let wakeEvent = try #require(EventDescriptor())
            return CurlTask(
                request: try TransportRequest(url: .host("a.test")), sink: AttemptRecorder(),
                mailbox: LoopMailbox(wakeEvent: wakeEvent))
        }

        /// Returns a cache with the addresses of "a", which expired at 60 s.
        private func cacheWithAddresses() throws -> (NameCache, CurlTask) {
            var cache = NameCache()
            let task = try task()
            #expect(cache.find("a", for: task, now: 0).isNew)
            let answer = cache.resolved("a", .addresses(["1.2.3.4", "[::1]"]), now: 0)
            #expect(answer.tasks.count == 1)
            #expect(answer.result == .success("1.2.3.4,[::1]"))
            return (cache, task)
        }

        @Test func `addresses are used for a minute, and then looked up again`() throws {
            var (cache, task) = try cacheWithAddresses()
            #expect(cache.find("a", for: task, now: 59 * second).addresses == "1.2.3.4,[::1]")
            #expect(cache.find("a", for: task, now: 60 * second).isNew)
        }

        // RFC 8767
        @Test func `addresses are used for ten more minutes while no name server answers`() throws {
            var (cache, task) = try cacheWithAddresses()
            #expect(cache.find("a", for: task, now: 60 * second).isNew)
            let answer = cache.resolved("a", .unavailable, now: 70 * second)
            #expect(answer.tasks.count == 1)
            #expect(answer.result == .success("1.2.3.4,[::1]"))
            // No attempt waits for the following look-ups, which are made from time to time.
            #expect(cache.find("a", for: task, now: 71 * second).addresses == "1.2.3.4,[::1]")
            #expect(cache.find("a", for: task, now: 75 * second).stale == "1.2.3.4,[::1]")
            #expect(cache.find("a", for: task, now: 76 * second).addresses == "1.2.3.4,[::1]")
            let last = cache.resolved("a", .outOfResources("x"), now: 659 * second)
            #expect(last.tasks.isEmpty)
            #expect(cache.find("a", for: task, now: 659 * second).addresses != nil)
            #expect(cache.find("a", for: task, now: 660 * second).isNew)
            #expect(cache.resolved("a", .unavailable, now: 670 * second).result == .failure(.dns))
            #expect(cache.count == 0)
        }

        @Test func `an attempt waits half a second for an answer when it has stale addresses`()
            throws
        {
            var (cache, task) = try cacheWithAddresses()
            #expect(cache.staleAnswerDeadline("b", since: 0, now: 0) == .max)
            let now = 61 * second
            #expect(cache.find("a", for: task, now: now).isNew)
            #expect(cache.staleAnswerDeadline("a", since: now, now: now) == now + second / 2)
            #expect(
                cache.stopWaitingWithStaleAddresses(task, for: "a", now: now) == "1.2.3.4,[::1]")
            #expect(cache.find("a", for: task, now: now).addresses == "1.2.3.4,[::1]")
            // The answer is stored all the same.
            #expect(cache.resolved("a", .addresses(["5.6.7.8"]), now: now).tasks.isEmpty)
            #expect(cache.find("a", for: task, now: now + 59 * second).addresses == "5.6.7.8")
            #expect(cache.find("a", for: task, now: now + 60 * second).isNew)
        }

        @Test func `an answer that was requested before a reset goes only to its waiters`()
            throws
        {
            var (cache, task) = try cacheWithAddresses()
            #expect(cache.find("a", for: task, now: 60 * second).isNew)
            cache.removeAll()
            let other = try self.task()
            #expect(!cache.find("a", for: other, now: 61 * second).isNew)
            let answer = cache.resolved("a", .addresses(["5.6.7.8"]), now: 62 * second)
            #expect(answer.tasks.count == 2)
            #expect(answer.result == .success("5.6.7.8"))
            #expect(cache.find("a", for: task, now: 62 * second).isNew)
            let next = cache.resolved("a", .addresses(["5.6.7.9"]), now: 62 * second)
            #expect(next.result == .success("5.6.7.9"))
            #expect(cache.find("a", for: task, now: 63 * second).addresses == "5.6.7.9")
        }

        @Test func `addresses are dropped when a name server says that there are none`() throws {
            var (cache, task) = try cacheWithAddresses()
            _ = cache.find("a", for: task, now: 60 * second)
            #expect(cache.resolved("a", .unknown, now: 60 * second).result == .failure(.dns))
            #expect(cache.find("a", for: task, now: 61 * second).error == .dns)
            #expect(cache.find("a", for: task, now: 65 * second).isNew)
        }

        @Test func `addresses that did not connect are used only while no answer comes`() throws {
            var (cache, task) = try cacheWithAddresses()
            cache.markStale("a", now: 10 * second)
            #expect(cache.find("a", for: task, now: 10 * second).isNew)
            #expect(
                cache.resolved("a", .unavailable, now: 11 * second).result
                    == .success("1.2.3.4,[::1]"))
        }

        @Test func `the answer that a name has no address is cached for five seconds`() throws {
            var cache = NameCache()
            let task = try task()
            _ = cache.find("a", for: task, now: 0)
            _ = cache.resolved("a", .unknown, now: 0)
            #expect(cache.find("a", for: task, now: 4 * second).error == .dns)
            #expect(cache.find("a", for: task, now: 5 * second).isNew)
        }

        @Test(arguments: [NameAnswer.outOfResources("x"), .unavailable])
        func `an answer that says nothing about the name is not cached`(
            answer: NameAnswer
        ) throws {
            var cache = NameCache()
            let task = try task()
            _ = cache.find("a", for: task, now: 0)
            let (tasks, result) = cache.resolved("a", answer, now: 0)
            #expect(tasks.count == 1)
            let isUnavailable = answer == .unavailable
            #expect(result == .failure(isUnavailable ? .dns : .resources(reason: "x")))
            #expect(cache.find("a", for: task, now: 0).isNew)
        }

        @Test func `a failure of the system's resolver is distinguished from an answer`() {
            #expect(NameAnswer(failure: EAI_NONAME, errno: 0) == .unknown)
            #expect(NameAnswer(failure: -5, errno: 0) == .unknown)
            #expect(NameAnswer(failure: EAI_AGAIN, errno: 0) == .unavailable)
            #expect(NameAnswer(failure: EAI_FAIL, errno: 0) == .unavailable)
            #expect(NameAnswer(failure: EAI_SYSTEM, errno: ECONNREFUSED) == .unavailable)
            #expect(NameAnswer(failure: EAI_MEMORY, errno: 0) == .outOfResources("memory"))
            guard case .outOfResources = NameAnswer(failure: EAI_SYSTEM, errno: EMFILE) else {
                Issue.record("no descriptor is taken for an answer")
                return
            }
        }

        @Test func `equal look-ups are joined, and a waiter may leave`() throws {
            var cache = NameCache()
            let (first, second) = (try task(), try task())
            #expect(cache.find("a", for: first, now: 0).isNew)
            #expect(!cache.find("a", for: second, now: 0).isNew)
            cache.stopWaiting(first, for: "a")
            let waiting = cache.resolved("a", .unknown, now: 0).tasks
            #expect(waiting.count == 1 && waiting[0] === second)
        }

        @Test func `idle names are evicted, and awaited names never`()
            throws
        {
            var cache = NameCache()
            let task = try task()
            _ = cache.find("waiting", for: task, now: 0)
            for number in 0..<3_000 {
                let now = Int64(number) * second
                _ = cache.find("\(number)", for: task, now: now)
                _ = cache.resolved(
                    "\(number)", number % 2 == 0 ? .unknown : .addresses(["1.2.3.4"]), now: now)
            }
            #expect(cache.count <= NameCache.entryLimit)
            #expect(cache.resolved("waiting", .unknown, now: 0).tasks.count == 1)
        }
    }

    extension NameCache.Finding {
        fileprivate var isNew: Bool { if case .pending(true) = self { true } else { false } }
        fileprivate var addresses: String? {
            if case .addresses(let text) = self { text } else { nil }
        }
        fileprivate var stale: String? { if case .stale(let text) = self { text } else { nil } }
        fileprivate var error: DataLoaderError? {
            if case .failed(let error) = self { error } else { nil }
        }
    }
#endif
