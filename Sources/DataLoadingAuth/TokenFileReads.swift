// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Dispatch
import Foundation

/// Reads files of tokens, each of them once at a time.
///
/// A disk that stalls then holds one thread for each file, however often the file is asked for.
/// Those who wait for it can be cancelled, so that nothing is left of them.
final class TokenFileReads: Sendable {
    /// Those of the whole process.
    static let shared = TokenFileReads(read: { try TokenFileReads.readToken(at: $0) })

    private struct State: Sendable {
        /// By path while it is read, then by the order of arrival.
        var waiters: [String: [Int: CheckedContinuation<Data, any Error>]] = [:]
        var arrivals = 0
    }

    private let state = Locked(State())
    private let read: @Sendable (String) throws -> Data

    /// Makes a table of readings; `read` reads a file, and may block.
    init(read: @escaping @Sendable (String) throws -> Data) {
        self.read = read
    }

    /// The number of those who wait for a file; nil while it is not read.
    func waiterCount(of path: String) -> Int? { state.withLock { $0.waiters[path]?.count } }

    /// Reads a file, or waits for the reading that has begun.
    func content(of path: String) async throws -> Data {
        let arrival = state.withLock { state in
            state.arrivals += 1
            return state.arrivals
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { join(path, arrival, $0) }
        } onCancel: {
            let waiter = state.withLock { $0.waiters[path]?.removeValue(forKey: arrival) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    private func join(
        _ path: String, _ arrival: Int, _ continuation: CheckedContinuation<Data, any Error>
    ) {
        let isFirst = state.withLock { state -> Bool? in
            // `onCancel` has not found the waiter.
            guard !Task.isCancelled else { return nil }
            let isFirst = state.waiters[path] == nil
            state.waiters[path, default: [:]][arrival] = continuation
            return isFirst
        }
        guard let isFirst else { return continuation.resume(throwing: CancellationError()) }
        if isFirst { begin(path) }
    }

    private func begin(_ path: String) {
        // A stalled disk must not block a thread that all tasks, or other queues, share.
        DispatchQueue(label: "DataLoading.token").async { [self] in
            let result = Result { try read(path) }
            let waiters = state.withLock { $0.waiters.removeValue(forKey: path) } ?? [:]
            for waiter in waiters.values { waiter.resume(with: result) }
        }
    }

    private static func readToken(at path: String) throws -> Data {
        do {
            return try SmallFile.read(path)
        } catch SmallFile.Fault.unreadable(let code) {
            let failure = String(cString: strerror(code))
            throw AuthorisationError.store(reason: "the token cannot be read: \(failure)")
        } catch SmallFile.Fault.notAFile {
            throw AuthorisationError.store(reason: "the token's file is not a file")
        } catch SmallFile.Fault.tooLarge {
            throw AuthorisationError.store(reason: "the token's file is too large")
        }
    }
}
