// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingSupport
import DataLoadingTransport
import Dispatch
import Foundation
import Testing

/// A directory of a cache, with responses whose bodies say whose they are.
struct DiskBed: Sendable {
    let temporary = TemporaryDirectory()

    var directory: URL { temporary.url("cache") }

    /// Settings with a limit by which a body of two blocks stays in its file.
    static func settings(
        capacity: Int64 = 1 << 30, _ change: (inout DiskSettings) -> Void = { _ in }
    ) -> DiskSettings {
        var settings = DiskSettings(capacity: capacity)
        settings.maxWholeBody = 100_000
        // No call of a busy machine is too long, and none during which a test moves its clock.
        settings.patience = .seconds(3_600)
        settings.log = { Issue.record("an unexpected line: \($0)") }
        change(&settings)
        return settings
    }

    /// The files as the queue of a store has them.
    func files(_ settings: DiskSettings = settings()) throws -> DiskFiles {
        try DiskFiles(directory, settings)
    }

    func cache(_ settings: DiskSettings = settings(), memory: Int = 16 << 20) throws
        -> ResponseCache
    {
        try ResponseCache.disk(at: directory, settings, memory: memory)
    }

    /// The paths of all files below the directory.
    var paths: [String] {
        let names = FileManager.default.enumerator(atPath: directory.path)?
            .compactMap { $0 as? String }
        return (names ?? []).filter { name in
            var isDirectory: ObjCBool = false
            let path = directory.appendingPathComponent(name).path
            return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
                && !isDirectory.boolValue && name != "lock"
        }
    }

    /// The paths of the stored responses.
    var entries: [String] { paths.filter { $0.hasPrefix(DiskDirectory.entries + "/") } }
}

/// A response whose body follows from its path and its number.
struct NumberedResponse: Sendable {
    let path: String
    let number: Int
    var vary: String?
    var request: HTTPHeaders = [:]
    var partition = CacheKey.Partition.shared
    /// The wall time at which it arrived, in seconds; a later one replaces an earlier one.
    var time: Int64 = 1_767_225_600

    /// The length is that of an empty body, a small one, one of two blocks or one of many.
    static func body(_ path: String, _ number: Int) -> Data {
        let lengths = [0, 1, 1_000, 65_536, 65_537, 150_000, 700, 20]
        var generator = UInt64(bitPattern: Int64(number)) &+ XXHash64.hash(Array(path.utf8))
        var bytes = Data(capacity: lengths[abs(number % 8)] + 8)
        while bytes.count < lengths[abs(number % 8)] {
            generator = generator &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            withUnsafeBytes(of: generator) { bytes.append(contentsOf: $0) }
        }
        return bytes.prefix(lengths[abs(number % 8)])
    }

    var body: Data { Self.body(path, number) }

    func key() throws -> CacheKey {
        CacheKey(partition, try RequestTarget(text: "https://origin.test" + path))
    }

    func diskKey() throws -> DiskKey { try #require(DiskKey(try key())) }

    func response() throws -> StoredResponse {
        var head = ResponseHead(status: .ok, headers: ["N": "\(number)"])
        head.headers.add("max-age=3600", for: "Cache-Control")
        if let vary { head.headers.add(vary, for: "Vary") }
        let moment = Self.moment(time)
        return try #require(
            StoredResponse(
                head, request: request,
                times: ResponseTimes(requested: moment.monotonic, received: moment),
                hasQuery: false))
    }

    static func moment(_ seconds: Int64, monotonic: Int64? = nil) -> CacheMoment {
        CacheMoment(
            wall: seconds * 1_000,
            monotonic: Instant(nanoseconds: (monotonic ?? seconds) * 1_000_000_000))
    }
}

extension StoredBody {
    /// All of it; nil when a part is not what was stored.
    var bytes: Data? {
        pieces.reduce(Data()) { bytes, piece in
            guard let bytes, let piece else { return nil }
            return bytes + piece
        }
    }
}

/// The files of a cache, without its queues.
final class DiskFiles {
    var state: DiskState

    init(_ url: URL, _ settings: DiskSettings) throws {
        state = DiskState(
            try DiskDirectory(at: url, settings.faults), settings,
            bodyQueue: DispatchQueue(label: "bodies"))
    }

    func find(_ response: NumberedResponse) throws -> DiskState.Found {
        state.find(try response.diskKey(), response.request, HeuristicFreshness())
    }

    /// The number of the response that is stored for a path.
    func number(
        _ path: String, _ request: HTTPHeaders = [:], _ partition: CacheKey.Partition = .shared,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Int? {
        var response = NumberedResponse(path: path, number: 0, partition: partition)
        response.request = request
        guard case .entry(let response, let body, _) = try find(response) else { return nil }
        let number = try #require(response.headers["N"].flatMap { Int($0) })
        guard let bytes = body.bytes else { return nil }
        #expect(
            bytes == NumberedResponse.body(path, number), "a wrong body of \(path), \(number)",
            sourceLocation: sourceLocation)
        return number
    }

    @discardableResult func store(_ response: NumberedResponse) throws -> Bool {
        let storing = state.store(
            try response.response(), response.body, try response.diskKey(), for: response.request)
        if case .stored = storing { return true }
        return false
    }

    /// Confirms a response; false when it is not there.
    func update(_ old: NumberedResponse, by new: StoredResponse) throws -> Bool {
        state.update(try old.response(), by: new, try old.diskKey()) != nil
    }

    func remove(_ path: String) throws {
        state.remove(try NumberedResponse(path: path, number: 0).diskKey().urlDigest)
    }

    func forget(_ partition: CacheKey.Partition) throws -> Bool {
        state.forget(DiskKey.short(try #require(DiskKey.digest(of: partition))))
    }

    func removeAll() -> Bool { state.removeAll() }
}

extension ResponseCache {
    func look(
        _ path: String, _ request: HTTPHeaders = [:], _ partition: CacheKey.Partition = .shared,
        at moment: CacheMoment = NumberedResponse.moment(1_767_225_700)
    ) async throws -> Recall {
        let key = try NumberedResponse(path: path, number: 0, partition: partition).key()
        // Under a lock: the thread sanitizer does not see the order that a continuation makes which
        // is resumed before its task has suspended.
        let found = Locked<Recall?>(nil)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            recall(CacheRequest(method: .get, headers: request), key, at: FixedTime(moment)) {
                recall in
                found.withLock { $0 = recall }
                continuation.resume()
            }
        }
        return try #require(found.withLock { $0 })
    }

    /// Stores a response as a load does, which looks first, and returns when it is written.
    func put(_ response: NumberedResponse) async throws {
        let recall = try await look(response.path, response.request, response.partition)
        keep(try response.response(), response.body, recall)
        await whenDone()
    }

    /// The number of the response that is stored for a path.
    func number(
        _ path: String, _ request: HTTPHeaders = [:], _ partition: CacheKey.Partition = .shared,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Int? {
        guard let stored = try await look(path, request, partition).stored else { return nil }
        let number = try #require(stored.response.headers["N"].flatMap { Int($0) })
        guard let bytes = stored.body.bytes else { return nil }
        #expect(
            bytes == NumberedResponse.body(path, number), "a wrong body of \(path), \(number)",
            sourceLocation: sourceLocation)
        return number
    }

    /// Returns when the files are listed and nothing is being removed.
    func isSettled() async {
        await whenDone()
        await eventually { disk?.usage.isSweeping != true }
    }
}

/// A clock that does not advance.
private struct FixedTime: Timekeeper {
    let moment: CacheMoment

    init(_ moment: CacheMoment) {
        self.moment = moment
    }

    var now: Instant { moment.monotonic }

    var date: Date { Date(timeIntervalSince1970: Double(moment.wall) / 1_000) }

    func makeAlarm(_ handler: @escaping @Sendable () -> Void) -> any Alarm {
        SystemTimekeeper().makeAlarm(handler)
    }
}
