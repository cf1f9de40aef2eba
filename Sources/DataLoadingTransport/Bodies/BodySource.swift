// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import Foundation

/// A source of body bytes that is read in chunks, on a queue that it may block.
package protocol BodySource {
    /// The body's length, when it is known before the end.
    var length: Int64? { get }
    /// Returns the next bytes, never empty; nil at the end.
    mutating func next() throws(DataLoaderError) -> Data?
    func close()
}

extension RequestBody {
    /// Whether a source of it may have a descriptor that is not open yet.
    private var opensDescriptors: Bool {
        switch self {
        case .file, .multipart, .stream: true
        case .data, .encoded, .oneShot: false
        }
    }

    /// Opens the body's files or stream; reads of a pipe end when `isStopped` returns true.
    package func openSource(
        isStopped: @escaping @Sendable () -> Bool = { false }
    ) throws(DataLoaderError) -> any BodySource {
        if opensDescriptors { try DescriptorReserve.checkRoom() }
        switch self {
        case .data(let data), .encoded(let data, _):
            return try BodyReader(stream: InputStream(data: data), length: Int64(data.count))
        case .file(let url): return try BodyReader(file: url, isStopped: isStopped)
        case .multipart(let form): return try MultipartReader(form, isStopped: isStopped)
        case .stream(let length, let provider):
            let stream: InputStream
            do { stream = try provider() } catch {
                throw DataLoaderError(
                    .requestBody(reason: "the provider threw \(type(of: error))"),
                    underlyingError: error)
            }
            return try BodyReader(stream: stream, length: length)
        case .oneShot(let stream, let length):
            guard let stream = stream.take() else {
                throw .requestBody(reason: "a one-shot stream was sent before")
            }
            return try BodyReader(stream: stream, length: length)
        }
    }
}
