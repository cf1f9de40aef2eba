// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The outcomes of the loads that a loader's `perform` starts, for an actor or a task.
///
/// ```swift
/// actor FeedStore {
///     private var feeds: [URL: Data] = [:]
///
///     func read(_ outcomes: LoadOutcomes) async {
///         for await outcome in outcomes {
///             switch outcome.result {
///             case .success(let response): feeds[response.request.url] = response.body
///             case .failure(.cancelled): break
///             case .failure(let error): print(outcome.request, "failed:", error.kind)
///             }
///         }
///     }
/// }
/// ```
/// Each load gives one outcome: a success, an error or a cancellation. The loader calls its
/// delegate first, if it has one, and then appends the outcome. Chunks go to the delegate only.
///
/// The sequence does not retain its loader. It ends when the loader is dropped and the outcomes
/// that came before are read. The loads that the drop cancels give none. The sequence also ends
/// for a task that is cancelled.
///
/// Loads do not wait for the reader. At most `Limits.queue` outcomes, 10,000 by default, wait
/// unread with their bodies. One more drops the oldest, which `droppedOutcomes` counts. Nothing is
/// collected when the sequence and its iterators are dropped.
///
/// Use one reader. When several tasks read, each outcome goes to one of them.
public struct LoadOutcomes: AsyncSequence, Sendable {
    /// The outcome of one load.
    public typealias Element = LoadOutcome
    /// The sequence throws no error.
    public typealias Failure = Never

    let buffer: OutcomeBuffer

    /// The number of outcomes that were dropped because too many were unread.
    public var droppedOutcomes: Int { buffer.droppedOutcomes }

    /// Makes an iterator, which takes its outcomes from those of the sequence.
    public func makeAsyncIterator() -> Iterator {
        Iterator(buffer: buffer)
    }

    /// Reads outcomes.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let buffer: OutcomeBuffer

        /// Returns the next outcome; nil when the sequence has ended or the task is cancelled.
        public func next() async -> LoadOutcome? {
            await buffer.next()
        }

        /// Returns the next outcome without leaving the caller's actor.
        public func next(isolation actor: isolated (any Actor)?) async -> LoadOutcome? {
            await buffer.next()
        }
    }
}
