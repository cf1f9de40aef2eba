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
            case stream(InputStream)
        }

        /// Opens a file, whose length is fixed here; `stamp` is what it has to be still.
        init(file: URL, expecting stamp: FileStamp? = nil) throws(DataLoaderError) {
            guard file.isFileURL else { throw .requestBody(reason: "not the URL of a file") }
            let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw FileStamp.failure("the file cannot be opened") }
            do throws(DataLoaderError) {
                let opened = try FileStamp(of: descriptor)
                guard stamp == nil || stamp == opened else { throw Self.changed }
                source = .file(descriptor, opened)
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
            case .file(let descriptor, _): closeDescriptor(descriptor)
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
            case .stream(let stream):
                guard let start = buffer.baseAddress else { return 0 }
                return stream.read(
                    start.assumingMemoryBound(to: UInt8.self), maxLength: buffer.count)
            }
        }
    }
#endif
