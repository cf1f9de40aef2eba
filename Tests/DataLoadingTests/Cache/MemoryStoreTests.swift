// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingSupport
import DataLoadingTesting
import DataLoadingTransport
import Foundation
import Testing

@Suite struct MemoryStoreTests {
    private let moment = CacheMoment(wall: 0, monotonic: Instant(nanoseconds: 0))

    private func key(_ path: String, _ partition: CacheKey.Partition = .shared) throws -> CacheKey {
        CacheKey(partition, try RequestTarget(text: "http://origin.test" + path))
    }

    private func entry(
        _ body: Int, vary: String? = nil, request: HTTPHeaders = [:], at seconds: Int64 = 0
    ) throws -> MemoryStore.Entry {
        let time = CacheMoment(
            wall: seconds * 1_000, monotonic: Instant(nanoseconds: seconds * 1_000_000_000))
        var head = ResponseHead(status: .ok)
        if let vary { head.headers.add(vary, for: "Vary") }
        let response = try #require(
            StoredResponse(
                head, request: request,
                times: ResponseTimes(requested: time.monotonic, received: time),
                hasQuery: false))
        return .init(response: response, body: Data(count: body))
    }

    private func body(_ store: MemoryStore, _ key: CacheKey, _ request: HTTPHeaders = [:]) -> Int? {
        guard case .entry(let entry) = store.find(key, request) else { return nil }
        return entry.body.count
    }

    @Test func `partitions share nothing`() throws {
        let store = MemoryStore(capacity: 100_000)
        let partitions: [CacheKey.Partition] = [
            .shared, .unnamed(1), .unnamed(2), .named("1"), .named("a"),
        ]
        for (index, partition) in partitions.enumerated() {
            store.store(try entry(index), try key("/a", partition), for: [:], since: store.stamp)
        }
        for (index, partition) in partitions.enumerated() {
            #expect(body(store, try key("/a", partition)) == index)
        }
        store.removeAll { $0.partition == .named("a") }
        #expect(body(store, try key("/a", .named("a"))) == nil)
        #expect(body(store, try key("/a")) == 0)
        store.remove(try key("/a").target)
        for partition in partitions { #expect(body(store, try key("/a", partition)) == nil) }
        #expect(store.usage.bytes == 0)
    }

    @Test func `the URL that was not used for longest leaves first`() throws {
        let store = MemoryStore(capacity: 3 * 2_000)
        for path in ["/a", "/b", "/c"] {
            store.store(try entry(1_400), try key(path), for: [:], since: store.stamp)
        }
        #expect(body(store, try key("/a")) == 1_400)
        store.store(try entry(1_400), try key("/d"), for: [:], since: store.stamp)
        #expect(body(store, try key("/b")) == nil)
        #expect(body(store, try key("/a")) == 1_400)
        #expect(store.usage.evicted == 1)
    }

    @Test func `a response that is larger than the store takes the place of none`() throws {
        let store = MemoryStore(capacity: 2_000)
        store.store(try entry(100), try key("/a"), for: [:], since: store.stamp)
        store.store(try entry(100), try key("/b"), for: [:], since: store.stamp)
        store.store(try entry(5_000), try key("/a"), for: [:], since: store.stamp)
        // What it would have replaced is no longer right.
        #expect(body(store, try key("/a")) == nil)
        #expect(body(store, try key("/b")) == 100)
    }

    @Test func `an update of a response that was replaced meanwhile changes nothing`() throws {
        let store = MemoryStore(capacity: 100_000)
        let key = try key("/a")
        let (first, second, third) = (try entry(1), try entry(2, at: 1), try entry(3, at: 2))
        store.store(first, key, for: [:], since: store.stamp)
        store.store(second, key, for: [:], since: store.stamp)
        store.update(first.response, by: third.response, key, for: [:])
        guard case .entry(let present) = store.find(key, [:]) else {
            Issue.record("nothing is stored")
            return
        }
        #expect(present.response.isSame(as: second.response))
        store.update(second.response, by: third.response, key, for: [:])
        guard case .entry(let present) = store.find(key, [:]) else {
            Issue.record("nothing is stored")
            return
        }
        #expect(present.response.isSame(as: third.response))
        #expect(present.body.count == 2)
    }

    @Test func `a response that was on its way when its URL was removed is not stored`() throws {
        let store = MemoryStore(capacity: 100_000)
        let before = store.stamp
        store.remove(try key("/a").target)
        store.store(try entry(1), try key("/a"), for: [:], since: before)
        store.store(try entry(2), try key("/b"), for: [:], since: before)
        #expect(body(store, try key("/a")) == nil)
        #expect(body(store, try key("/b")) == 2)
        for index in 0...Removals.maxURLs { store.remove(try key("/c\(index)").target) }
        store.store(try entry(3), try key("/d"), for: [:], since: before)
        #expect(body(store, try key("/d")) == nil)
        store.store(try entry(4), try key("/a"), for: [:], since: store.stamp)
        #expect(body(store, try key("/a")) == 4)
        let later = store.stamp
        store.removeAll()
        store.store(try entry(5), try key("/e"), for: [:], since: later)
        #expect(body(store, try key("/e")) == nil)
        #expect(store.usage.bytes == 0)
    }

    @Test func `random use agrees with a naive list, and never takes more than its room`() {
        property(cases: max(propertyCases / 100, 10)) { generator in
            let capacity = Int.random(in: 0...20_000, using: &generator)
            let store = MemoryStore(capacity: capacity)
            // Paths in the order of their use, the last one last.
            var naive: [(path: Int, foo: Int?, size: Int, body: Int)] = []
            for step in 0..<60 {
                guard let key = try? key("/\(Int.random(in: 0..<8, using: &generator))"),
                    let path = Int(key.target.pathAndQuery.dropFirst())
                else { return "no key" }
                let foo = Int.random(in: 0..<3, using: &generator)
                let request: HTTPHeaders = ["Accept": "\(foo)"]
                switch Int.random(in: 0..<8, using: &generator) {
                case 0:
                    store.remove(key.target)
                    naive.removeAll { $0.path == path }
                case 1...3:
                    let varies = Bool.random(using: &generator)
                    let size = Int.random(in: 0...6_000, using: &generator)
                    guard
                        let entry = try? entry(
                            size, vary: varies ? "Accept" : nil, request: request, at: Int64(step))
                    else { return "no entry" }
                    store.store(entry, key, for: request, since: store.stamp)
                    naive.removeAll { $0.path == path && ($0.foo == nil || $0.foo == foo) }
                    // The body, the path, `Vary` and the value of `Accept`.
                    let field = MemoryLayout<HTTPHeaders.Field>.stride
                    let whole = size + 512 + 2 + (varies ? field + 10 + 1 : 0)
                    guard whole <= capacity else { break }
                    naive.append((path, varies ? foo : nil, whole, size))
                    touch(&naive, path)
                    while naive.reduce(0, { $0 + $1.size }) > capacity {
                        let oldest = naive[0].path
                        naive.removeAll { $0.path == oldest }
                    }
                default:
                    let expected = naive.last {
                        $0.path == path && ($0.foo == nil || $0.foo == foo)
                    }
                    let found = body(store, key, request)
                    if found != expected?.body { return "\(String(describing: found)) at \(step)" }
                    if expected != nil { touch(&naive, path) }
                }
                let bytes = naive.reduce(0) { $0 + $1.size }
                if store.usage.bytes != bytes { return "\(store.usage.bytes), not \(bytes)" }
                if bytes > capacity { return "more than its room" }
            }
            return nil
        }
    }

    /// Moves all variants of a path to the end, in their order.
    private func touch(_ list: inout [(path: Int, foo: Int?, size: Int, body: Int)], _ path: Int) {
        list = list.filter { $0.path != path } + list.filter { $0.path == path }
    }
}
