// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    @testable import DataLoadingCurl
    @testable import DataLoadingTransport
    @testable import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Glibc
    import Testing

    /// Uploads that are read in small pieces.
    @Suite struct BodyFeedTests {
        /// A stream that gives a few bytes at each read.
        private final class Trickle: InputStream {
            private let step: Int
            private let total: Int
            private let given: Locked<Int>

            init(step: Int, total: Int, given: Locked<Int>) {
                self.step = step
                self.total = total
                self.given = given
                super.init(data: Data())
            }

            override func open() {}
            override func close() {}
            override var streamStatus: Stream.Status { .open }
            override var streamError: (any Error)? { nil }
            override var hasBytesAvailable: Bool { true }

            override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
                given.withLock { given in
                    let count = min(step, maxLength, total - given)
                    for index in 0..<count {
                        buffer[index] = UInt8(truncatingIfNeeded: given + index)
                    }
                    given += count
                    return count
                }
            }
        }

        private let given = Locked(0)

        private func body(step: Int, total: Int) -> RequestBody {
            .stream { [given] in Trickle(step: step, total: total, given: given) }
        }

        @Test(arguments: [1, 20, 100, 5_000])
        func `bytes that are read in small pieces are sent together`(step: Int) async throws {
            let body = body(step: step, total: BodyFeed.window * 2)
            let feed = BodyFeed(body, readers: BodyReaders()) {}
            defer { feed.stop() }
            await eventually { given.withLock { $0 } >= BodyFeed.window }
            // Nobody takes, so that no more than the window is read.
            var sent: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 16_384)
            var takes = 0
            while sent.count < BodyFeed.window {
                switch buffer.withUnsafeMutableBytes({ feed.take(into: $0) }) {
                case .bytes(let count):
                    sent += buffer[..<count]
                    takes += 1
                case .notYet: await Task.yield()
                case .end, .failed:
                    Issue.record("the body ended")
                    return
                }
            }
            #expect(takes <= 32)
            let isSame = sent.indices.allSatisfy { sent[$0] == UInt8(truncatingIfNeeded: $0) }
            #expect(isSame)
        }

        /// The bytes that the allocator has given for a piece.
        private static func held(by piece: Data) -> Int {
            typealias Function = @convention(c) (UnsafeRawPointer?) -> Int
            guard let symbol = dlsym(nil, "malloc_usable_size") else { return .max }
            let function = unsafeBitCast(symbol, to: Function.self)
            return piece.withUnsafeBytes { function($0.baseAddress) }
        }

        @Test func `a piece holds no more memory than it needs`() throws {
            var source = try body(step: 20, total: 100).openSource { false }
            defer { source.close() }
            while let piece = try source.next() {
                #expect(Self.held(by: piece) < 1_024)
            }
        }
    }
#endif
