// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// Reads one file or stream, and checks its length.
struct BodyReader: BodySource {
    static let chunkSize = 65_536

    let length: Int64?
    private let source: Source
    private var produced: Int64 = 0
    private var isAtEnd = false

    private enum Source {
        case file(Int32, FileStamp)
        /// A pipe or device, which is polled in steps so that the reading can be stopped.
        case device(Int32, isStopped: @Sendable () -> Bool)
        case stream(InputStream)
    }

    /// The time in milliseconds that a read waits for bytes before it checks whether it was
    /// stopped.
    private static let step: Int32 = 100

    /// Opens a file and fixes its length; with a `stamp`, the file must still match it.
    init(
        file: URL, expecting stamp: FileStamp? = nil,
        isStopped: @escaping @Sendable () -> Bool = { false }
    ) throws(DataLoaderError) {
        guard file.isFileURL else { throw .requestBody(reason: "not the URL of a file") }
        // Without O_NONBLOCK the opening of a pipe blocks until it has a writer.
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileStamp.failure("the file cannot be opened") }
        do throws(DataLoaderError) {
            let opened = try FileStamp(of: descriptor)
            guard stamp == nil || stamp == opened else { throw Self.changed }
            source =
                opened.length == nil
                ? .device(descriptor, isStopped: isStopped) : .file(descriptor, opened)
            length = opened.length
        } catch {
            closeDescriptor(descriptor)
            throw error
        }
    }

    init(stream: InputStream, length: Int64?) throws(DataLoaderError) {
        stream.open()
        guard stream.streamStatus != .error else {
            throw DataLoaderError(
                .requestBody(reason: "the stream cannot be opened"),
                underlyingError: stream.streamError)
        }
        source = .stream(stream)
        self.length = length
    }

    /// Returns the last bytes only after it has checked that there are neither fewer nor more,
    /// so that a request with a wrong body is never complete.
    mutating func next() throws(DataLoaderError) -> Data? {
        guard !isAtEnd else { return nil }
        let chunk = try read(atMost: limit)
        produced += Int64(chunk.count)
        guard chunk.isEmpty || produced >= length ?? .max else { return chunk }
        isAtEnd = true
        try proveLength()
        return chunk.isEmpty ? nil : chunk
    }

    private func proveLength() throws(DataLoaderError) {
        if case .file(let descriptor, let stamp) = source {
            guard try FileStamp(of: descriptor) == stamp else { throw Self.changed }
        }
        guard let length else { return }
        guard produced >= length else { throw Self.short }
        guard produced == length, try read(atMost: 1).isEmpty else { throw Self.long }
    }

    private static let changed = DataLoaderError.requestBody(
        reason: "the file changed while it was sent")
    private static let short = DataLoaderError.requestBody(
        reason: "shorter than its declared length")
    private static let long = DataLoaderError.requestBody(
        reason: "longer than its declared length")

    func close() {
        switch source {
        case .file(let descriptor, _), .device(let descriptor, _): closeDescriptor(descriptor)
        case .stream(let stream): stream.close()
        }
    }

    private var limit: Int {
        guard case .file = source, let length else { return Self.chunkSize }
        return Int(min(Int64(Self.chunkSize), max(0, length - produced)))
    }

    private func read(atMost count: Int) throws(DataLoaderError) -> Data {
        guard count > 0 else { return Data() }
        var chunk = Data(count: count)
        let result = chunk.withUnsafeMutableBytes { buffer in
            Self.read(source, into: buffer)
        }
        guard result >= 0 else {
            throw DataLoaderError(
                .requestBody(reason: "the body cannot be read"), underlyingError: readError)
        }
        // A part of the memory would keep all of it.
        guard result > count / 2 else { return chunk.withUnsafeBytes { Data($0.prefix(result)) } }
        chunk.removeSubrange(min(result, count)...)
        return chunk
    }

    /// The error of the last read that failed.
    private var readError: (any Error)? {
        switch source {
        case .stream(let stream): stream.streamError
        case .file, .device: POSIXErrorCode(rawValue: errno).map { POSIXError($0) }
        }
    }

    private static func read(
        _ source: Source, into buffer: UnsafeMutableRawBufferPointer
    ) -> Int {
        switch source {
        case .file(let descriptor, _):
            while true {
                let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
                if count >= 0 || errno != EINTR { return count }
            }
        case .device(let descriptor, let isStopped):
            while !isStopped() {
                var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                // Unlike `read`, `poll` reports no end of a pipe before it had a writer.
                guard poll(&event, 1, Self.step) > 0 else { continue }
                let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
                if count >= 0 || (errno != EINTR && errno != EAGAIN) { return count }
            }
            return -1
        case .stream(let stream):
            guard let start = buffer.baseAddress else { return 0 }
            return stream.read(
                start.assumingMemoryBound(to: UInt8.self), maxLength: buffer.count)
        }
    }
}
