// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import Foundation

    /// A request body as it is read, piece by piece, on a queue that it may block.
    protocol BodySource {
        /// Bytes in all, when they are known before the last is read.
        var length: Int64? { get }
        /// The next bytes, never none; nil at the end.
        mutating func next() throws(DataLoaderError) -> Data?
        func close()
    }

    /// Reads one file or stream, and holds it to its length.
    struct BodyReader: BodySource {
        static let chunkSize = 65_536

        let length: Int64?
        private let source: Source
        private var produced: Int64 = 0
        private var isAtEnd = false

        private enum Source {
            case file(Int32, FileStamp)
            /// A pipe or device, which is waited for in steps so that the reading can be stopped.
            case device(Int32, isStopped: @Sendable () -> Bool)
            case stream(InputStream)
        }

        /// How long a read waits for bytes before it asks whether it is to go on, in milliseconds.
        private static let step: Int32 = 100

        /// Opens a file, whose length is fixed here; `stamp` is what it has to be still.
        init(
            file: URL, expecting stamp: FileStamp? = nil,
            isStopped: @escaping @Sendable () -> Bool = { false }
        ) throws(DataLoaderError) {
            guard file.isFileURL else { throw .requestBody(reason: "not the URL of a file") }
            // Without O_NONBLOCK a pipe keeps who opens it until it has a writer.
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
                throw .requestBody(reason: "the stream cannot be opened")
            }
            source = .stream(stream)
            self.length = length
        }

        /// The last bytes come only once it is proved that there are neither fewer nor more, so that
        /// a request whose body is wrong is never whole.
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
            guard result >= 0 else { throw .requestBody(reason: "it cannot be read") }
            chunk.removeSubrange(min(result, count)...)
            return chunk
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
                    // A pipe is not at its end before there was a writer, for `poll` alone.
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
#endif
