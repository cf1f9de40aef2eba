// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Reads an upload from its file or stream for the loop, up to a window ahead.
///
/// A queue of its own reads, because a user's stream may block. The loop takes the bytes that
/// are there, or pauses its transfer until `ready` is called.
final class BodyFeed: Sendable {
    enum Portion {
        case bytes(Int)
        case notYet
        case end
        case failed(DataLoaderError)
    }

    private struct State {
        /// The pieces behind the first one.
        var chunks = FIFO<Data>()
        /// What is left of the first piece.
        var first = Data()
        var buffered = 0
        var length: Int64?
        var isReading = true
        var isAtEnd = false
        var isStopped = false
        /// Whether the first read has started; it may wait for other bodies that block their
        /// readers.
        var hasBegun = false
        var isAwaited = true
        var failure: DataLoaderError?

        /// Moves bytes that wait to a buffer, of as many pieces as it has room for; returns their
        /// number.
        mutating func move(to buffer: UnsafeMutableRawBufferPointer) -> Int {
            var filled = 0
            while filled < buffer.count {
                if first.isEmpty { first = chunks.popFirst() ?? Data() }
                let count = min(first.count, buffer.count - filled)
                guard count > 0 else { break }
                first.copyBytes(
                    to: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), count: count)
                first = count == first.count ? Data() : first.dropFirst(count)
                filled += count
            }
            buffered -= filled
            return filled
        }
    }

    static let window = 262_144
    private let body: RequestBody
    private let readers: BodyReaders
    private let ready: @Sendable () -> Void
    private let state = Locked(State())
    private let reader = QueueIsolated<(any BodySource)?>(nil, label: "DataLoading.body")

    /// Opens the body and reads ahead; calls `ready` when there are bytes to take.
    init(
        _ body: RequestBody, readers: BodyReaders, ready: @escaping @Sendable () -> Void
    ) {
        self.body = body
        self.readers = readers
        self.ready = ready
        read(isFirst: true) { feed, reader in
            guard feed.state.withLock({ !$0.isStopped }) else { return }
            do throws(DataLoaderError) {
                let opened = try body.openSource { [state = feed.state] in
                    state.withLock { $0.isStopped }
                }
                reader = opened
                feed.state.withLock { $0.length = opened.length }
                feed.fill(&reader)
            } catch {
                feed.end(error)
            }
        }
    }

    /// Runs a block that may block, unless too many other bodies block their readers.
    private func read(
        isFirst: Bool,
        _ block: @escaping @Sendable (BodyFeed, inout (any BodySource)?) -> Void
    ) {
        let isAccepted = readers.start(isFirst: isFirst) { [self] done in
            if isFirst { state.withLock { $0.hasBegun = true } }
            reader.async { reader in
                block(self, &reader)
                done()
            }
        }
        if !isAccepted { end(BodyReaders.refusal) }
    }

    /// Whether the first read has not started, because other bodies block their readers.
    var isWaitingForReader: Bool { state.withLock { !$0.hasBegun } }

    /// The body's length, nil when unknown; set before `ready` is called.
    var length: Int64? { state.withLock { $0.length } }

    /// The error that ended the body.
    var failure: DataLoaderError? { state.withLock { $0.failure } }

    /// Takes bytes; after `notYet`, `ready` will be called.
    func take(into buffer: UnsafeMutableRawBufferPointer) -> Portion {
        let (portion, wantsMore): (Portion, Bool) = state.withLock { state in
            let count = state.move(to: buffer)
            guard count > 0 else {
                if let failure = state.failure { return (.failed(failure), false) }
                if state.isAtEnd { return (.end, false) }
                state.isAwaited = true
                return (.notYet, Self.startReading(&state))
            }
            return (.bytes(count), Self.startReading(&state))
        }
        if wantsMore { read(isFirst: false) { feed, reader in feed.fill(&reader) } }
        return portion
    }

    /// Stops the reading, and does not wait for a read that blocks.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.chunks = FIFO()
            state.first = Data()
        }
        reader.async { reader in
            reader?.close()
            reader = nil
        }
    }

    private static func startReading(_ state: inout State) -> Bool {
        guard !state.isReading, !state.isAtEnd, !state.isStopped,
            state.buffered <= window / 2
        else { return false }
        state.isReading = true
        return true
    }

    private func fill(_ reader: inout (any BodySource)?) {
        while let next = nextChunk(&reader) {
            let (goesOn, isAwaited) = state.withLock { state in
                guard !state.isStopped else { return (false, false) }
                state.chunks.append(next) { $0.join(next) }
                state.buffered += next.count
                defer { state.isAwaited = false }
                state.isReading = state.buffered < Self.window
                return (state.isReading, state.isAwaited)
            }
            if isAwaited { ready() }
            guard goesOn else { return }
        }
    }

    private func nextChunk(_ reader: inout (any BodySource)?) -> Data? {
        do throws(DataLoaderError) {
            guard let chunk = try reader?.next() else {
                end(nil)
                return nil
            }
            return chunk
        } catch {
            end(error)
            return nil
        }
    }

    private func end(_ failure: DataLoaderError?) {
        let isAwaited = state.withLock { state in
            state.isReading = false
            state.isAtEnd = true
            state.failure = failure
            defer { state.isAwaited = false }
            return state.isAwaited && !state.isStopped
        }
        if isAwaited { ready() }
    }
}
