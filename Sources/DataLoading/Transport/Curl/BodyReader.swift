// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import Foundation

    /// Reads a request body from its file or stream, and holds it to its declared length.
    struct BodyReader {
        static let chunkSize = 65_536

        /// Bytes in all, when they are known before the last is read.
        let length: Int64?
        private let source: Source
        private var produced: Int64 = 0
        private var isAtEnd = false

        private enum Source {
            case file(Int32)
            case stream(InputStream)
        }

        /// Opens a file; its length is fixed here, and what is appended later is not sent.
        init(file: URL) throws(DataLoaderError) {
            let path = file.path
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.systemFailure("the file cannot be opened") }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
                closeDescriptor(descriptor)
                throw .requestBody(reason: "the file cannot be read")
            }
            source = .file(descriptor)
            length = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
        }

        init(stream: InputStream, length: Int64?) throws(DataLoaderError) {
            stream.open()
            guard stream.streamStatus != .error else {
                throw .requestBody(reason: "the stream cannot be opened")
            }
            source = .stream(stream)
            self.length = length
        }

        /// The next bytes; nil at the end.
        ///
        /// The last ones come only once the length is proved.
        mutating func next() throws(DataLoaderError) -> Data? {
            guard !isAtEnd else { return nil }
            let chunk = try read(atMost: limit)
            produced += Int64(chunk.count)
            guard !chunk.isEmpty else {
                isAtEnd = true
                guard produced == length ?? produced else {
                    throw .requestBody(reason: "shorter than its declared length")
                }
                return nil
            }
            guard let length, produced >= length else { return chunk }
            isAtEnd = true
            guard case .stream = source else { return chunk }
            guard produced == length, try read(atMost: 1).isEmpty else {
                throw .requestBody(reason: "longer than its declared length")
            }
            return chunk
        }

        func close() {
            switch source {
            case .file(let descriptor): closeDescriptor(descriptor)
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
            case .file(let descriptor):
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

        private static func systemFailure(_ what: String) -> DataLoaderError {
            errno == EMFILE || errno == ENFILE
                ? .resources(reason: "file descriptors") : .requestBody(reason: what)
        }
    }
#endif
