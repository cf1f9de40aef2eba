// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Takes the body of a response, on a queue that it may block.
protocol BodySink {
    /// A response begins; what an earlier one has left is not to stay.
    mutating func begin() throws(DataLoaderError)
    mutating func write(_ bytes: Data) throws(DataLoaderError)
    /// The response was whole.
    mutating func commit() throws(DataLoaderError)
    /// The load has failed; also called after a failure of its own, and when nothing was begun.
    mutating func discard()
}

/// Hands pieces to a closure.
struct ClosureSink: BodySink, Sendable {
    let receive: @Sendable (Data) throws -> Void

    func begin() {}

    func write(_ bytes: Data) throws(DataLoaderError) {
        do { try receive(bytes) } catch {
            throw .responseSink(reason: "the closure threw \(type(of: error))")
        }
    }

    func commit() {}

    func discard() {}
}

/// Writes to a stream of the user's.
struct StreamSink: BodySink {
    let make: @Sendable () throws -> OutputStream
    private var stream: OutputStream?

    init(_ make: @escaping @Sendable () throws -> OutputStream) {
        self.make = make
    }

    mutating func begin() throws(DataLoaderError) {
        // A response that broke before its first byte left the stream as it was.
        guard stream == nil else { return }
        let made: OutputStream
        do { made = try make() } catch {
            throw .responseSink(reason: "the closure threw \(type(of: error))")
        }
        stream = made
        made.open()
        guard made.streamStatus != .error else {
            throw .responseSink(reason: "the stream cannot be opened")
        }
    }

    func write(_ bytes: Data) throws(DataLoaderError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                buffer.baseAddress.map { start in
                    stream?.write(
                        start.assumingMemoryBound(to: UInt8.self), maxLength: buffer.count) ?? -1
                } ?? -1
            }
            guard count != 0 else { throw .responseSink(reason: "the stream is full") }
            guard count > 0 else { throw .responseSink(reason: "the stream cannot be written to") }
            rest = rest.dropFirst(count)
        }
    }

    func commit() { stream?.close() }

    func discard() { stream?.close() }
}
