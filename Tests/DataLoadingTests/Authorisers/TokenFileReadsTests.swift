// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
import DataLoading
import DataLoadingSupport
import Dispatch
import Foundation
import Testing

/// Files of tokens on a disk that stalls.
@Suite(.timeLimit(.minutes(15))) struct TokenFileReadsTests {
    private let disk = DispatchSemaphore(value: 0)
    private let begun = Locked<[String]>([])
    private let reads: TokenFileReads

    init() {
        reads = TokenFileReads { [disk, begun] path in
            begun.withLock { $0.append(path) }
            disk.wait()
            return Data(path.utf8)
        }
    }

    private func read(_ path: String) -> Task<Data, any Error> {
        Task { [reads] in try await reads.content(of: path) }
    }

    @Test func `a file that is being read is not read a second time, whoever asks for it`()
        async throws
    {
        let tasks = (0..<40).map { _ in read("a") }
        await eventually { reads.waiterCount(of: "a") == 40 }
        // Another file does not wait for it.
        let other = read("b")
        await eventually { begun.withLock { $0.count } == 2 }
        #expect(Set(begun.withLock { $0 }) == ["a", "b"])
        for _ in 0..<2 { disk.signal() }
        for task in tasks { #expect(try await task.value == Data("a".utf8)) }
        #expect(try await other.value == Data("b".utf8))
        // It is over, and the file is read anew.
        let next = read("a")
        await eventually { begun.withLock { $0.count } == 3 }
        disk.signal()
        #expect(try await next.value == Data("a".utf8))
    }

    @Test func `those who stop waiting for a stalled disk leave nothing behind`() async throws {
        for _ in 0..<40 {
            let task = read("a")
            await eventually { reads.waiterCount(of: "a") == 1 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(reads.waiterCount(of: "a") == 0)
        }
        await eventually { begun.withLock { !$0.isEmpty } }
        #expect(begun.withLock { $0.count } == 1)
        let last = read("a")
        await eventually { reads.waiterCount(of: "a") == 1 }
        disk.signal()
        #expect(try await last.value == Data("a".utf8))
        #expect(reads.waiterCount(of: "a") == nil)
    }

    @Test func `a reading that fails fails for all who wait for it, and no longer`() async throws {
        let isBroken = Locked(true)
        let reads = TokenFileReads { [disk] _ in
            disk.wait()
            if isBroken.withLock({ $0 }) { throw AuthorisationError.store(reason: "broken") }
            return Data()
        }
        let tasks = (0..<3).map { _ in Task { try await reads.content(of: "a") } }
        await eventually { reads.waiterCount(of: "a") == 3 }
        disk.signal()
        for task in tasks {
            await #expect(throws: AuthorisationError.store(reason: "broken")) {
                try await task.value
            }
        }
        isBroken.withLock { $0 = false }
        disk.signal()
        #expect(try await reads.content(of: "a") == Data())
    }
}
