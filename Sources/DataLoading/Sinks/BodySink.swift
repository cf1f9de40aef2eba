// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Foundation

/// Receives the body of a response, on a queue that it may block.
protocol BodySink {
    /// Returns what an earlier load has left, before anything is sent; it may stop early.
    mutating func prepare(isStopped: () -> Bool) throws(DataLoaderError) -> StoredPart?
    /// Begins a response, and removes what an earlier one has written where that is possible.
    mutating func begin(_ response: DataLoaderResponse) throws(DataLoaderError)
    mutating func write(_ bytes: Data) throws(DataLoaderError)
    /// Completes the response.
    mutating func commit() throws(DataLoaderError)
    /// Discards the response of a failed load.
    ///
    /// It is also called after an error of the sink itself, and when nothing was begun.
    mutating func discard()
}

extension BodySink {
    func prepare(isStopped: () -> Bool) -> StoredPart? { nil }
}

/// Passes pieces to a closure.
struct ClosureSink: BodySink, Sendable {
    let receive: @Sendable (Data) throws -> Void

    func begin(_ response: DataLoaderResponse) {}

    func write(_ bytes: Data) throws(DataLoaderError) {
        do { try receive(bytes) } catch { throw .closureThrew(error) }
    }

    func commit() {}

    func discard() {}
}

/// Writes pieces to an output stream of the user.
struct StreamSink: BodySink {
    let make: @Sendable () throws -> OutputStream
    private var stream: OutputStream?

    init(_ make: @escaping @Sendable () throws -> OutputStream) {
        self.make = make
    }

    mutating func begin(_ response: DataLoaderResponse) throws(DataLoaderError) {
        // A response that broke before its first byte has left the stream unchanged.
        guard stream == nil else { return }
        let made: OutputStream
        do { made = try make() } catch { throw .closureThrew(error) }
        stream = made
        made.open()
        guard made.streamStatus != .error else {
            throw failure("the stream cannot be opened")
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
            guard count > 0 else { throw failure("the stream cannot be written to") }
            rest = rest.dropFirst(count)
        }
    }

    func commit() { stream?.close() }

    func discard() { stream?.close() }

    private func failure(_ reason: String) -> DataLoaderError {
        DataLoaderError(.responseSink(reason: reason), underlyingError: stream?.streamError)
    }
}

extension DataLoaderError {
    /// The description of the user's error may be secret, so the reason names its type.
    fileprivate static func closureThrew(_ error: any Error) -> Self {
        Self(
            .responseSink(reason: "the closure threw \(type(of: error))"), underlyingError: error)
    }
}
