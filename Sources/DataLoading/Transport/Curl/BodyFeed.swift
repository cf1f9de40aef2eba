// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import Foundation

    /// Brings an upload from its file or stream to the loop, at most a window ahead of the wire.
    ///
    /// Reading has a queue of its own, because a user's stream may block for as long as it likes;
    /// the loop only takes what is there, or pauses its transfer until `ready` is called.
    final class BodyFeed: Sendable {
        enum Portion {
            case bytes(Int)
            case notYet
            case end
            case failed(DataLoaderError)
        }

        private struct State {
            var chunks: [Data] = []
            var buffered = 0
            var length: Int64?
            var isReading = true
            var isAtEnd = false
            var isStopped = false
            /// Whether it was the body's turn to be read, after those that block their readers.
            var isBegun = false
            var isAwaited = true
            var failure: DataLoaderError?
        }

        static let window = 262_144
        private let body: RequestBody
        private let readers: BodyReaders
        private let ready: @Sendable () -> Void
        private let state = Locked(State())
        private let reader = Confined<(any BodySource)?>(nil, label: "DataLoading.body")

        /// Opens the body and reads ahead; `ready` is called when there is something to take.
        init(
            _ body: RequestBody, readers: BodyReaders, ready: @escaping @Sendable () -> Void
        ) {
            self.body = body
            self.readers = readers
            self.ready = ready
            read(isFirst: true) { feed, reader in
                guard feed.state.withLock({ !$0.isStopped }) else { return }
                do throws(DataLoaderError) {
                    let opened = try Self.open(body) { [state = feed.state] in
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

        /// Runs a block that may read for as long as it likes, unless too many others do.
        private func read(
            isFirst: Bool,
            _ block: @escaping @Sendable (BodyFeed, inout (any BodySource)?) -> Void
        ) {
            let isTaken = readers.start(isFirst: isFirst) { [self] done in
                if isFirst { state.withLock { $0.isBegun = true } }
                reader.async { reader in
                    block(self, &reader)
                    done()
                }
            }
            if !isTaken { end(BodyReaders.refusal) }
        }

        /// Whether the body was not looked at yet, because others block their readers.
        var waitsForReader: Bool { state.withLock { !$0.isBegun } }

        /// Bytes in all, nil when unknown; known once `ready` was called.
        var length: Int64? { state.withLock { $0.length } }

        /// Why the body cannot go on.
        var failure: DataLoaderError? { state.withLock { $0.failure } }

        /// Takes bytes over; `notYet` promises a call of `ready`.
        func take(into buffer: UnsafeMutableRawBufferPointer) -> Portion {
            let (portion, wantsMore): (Portion, Bool) = state.withLock { state in
                guard let first = state.chunks.first else {
                    if let failure = state.failure { return (.failed(failure), false) }
                    if state.isAtEnd { return (.end, false) }
                    state.isAwaited = true
                    return (.notYet, Self.startReading(&state))
                }
                let count = min(first.count, buffer.count)
                first.copyBytes(to: buffer, count: count)
                if count == first.count {
                    state.chunks.removeFirst()
                } else {
                    state.chunks[0] = first.dropFirst(count)
                }
                state.buffered -= count
                return (.bytes(count), Self.startReading(&state))
            }
            if wantsMore { read(isFirst: false) { feed, reader in feed.fill(&reader) } }
            return portion
        }

        /// Ends the reading; a read that blocks is waited for by nobody.
        func stop() {
            state.withLock { state in
                state.isStopped = true
                state.chunks = []
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

        static func open(
            _ body: RequestBody, isStopped: @escaping @Sendable () -> Bool = { false }
        ) throws(DataLoaderError) -> any BodySource {
            switch body {
            case .data(let data), .encoded(let data, _):
                return try BodyReader(stream: InputStream(data: data), length: Int64(data.count))
            case .file(let url): return try BodyReader(file: url, isStopped: isStopped)
            case .multipart(let form): return try MultipartReader(form, isStopped: isStopped)
            case .stream(let length, let provider):
                let stream: InputStream
                do { stream = try provider() } catch {
                    throw .requestBody(reason: "the provider threw \(type(of: error))")
                }
                return try BodyReader(stream: stream, length: length)
            case .oneShot(let stream, let length):
                guard let stream = stream.take() else {
                    throw .requestBody(reason: "a one-shot stream was sent before")
                }
                return try BodyReader(stream: stream, length: length)
            }
        }

        private func fill(_ reader: inout (any BodySource)?) {
            while let next = nextChunk(&reader) {
                let (goesOn, isAwaited) = state.withLock { state in
                    guard !state.isStopped else { return (false, false) }
                    state.chunks.append(next)
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
#endif
