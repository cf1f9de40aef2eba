// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// Reads a form and its files in order.
struct MultipartReader: BodySource {
    let length: Int64?
    private var segments: ArraySlice<Segment>
    private var file: BodyReader?
    private let isStopped: @Sendable () -> Bool

    private enum Segment {
        case bytes(Data)
        case file(URL, FileStamp)
    }

    /// Reads the stamp of every file, so that a form that cannot be sent completely is not
    /// started.
    init(
        _ form: MultipartForm, isStopped: @escaping @Sendable () -> Bool = { false }
    ) throws(DataLoaderError) {
        self.isStopped = isStopped
        var segments: [Segment] = []
        var length: Int64? = 0
        for segment in form.segments {
            switch segment {
            case .bytes(let data):
                segments.append(.bytes(data))
                length = length?.addingSaturated(Int64(data.count))
            case .file(let url):
                let stamp = try FileStamp(at: url)
                segments.append(.file(url, stamp))
                length = stamp.length.flatMap { length?.addingSaturated($0) }
            }
        }
        self.segments = segments[...]
        self.length = length
    }

    mutating func next() throws(DataLoaderError) -> Data? {
        var gathered = Data()
        while true {
            if let chunk = try file?.next() { return chunk }
            file?.close()
            file = nil
            switch segments.first {
            case nil:
                return gathered.isEmpty ? nil : gathered
            case .bytes(let data):
                // Small pieces are joined; a large one is returned without a copy.
                guard gathered.isEmpty || gathered.count + data.count <= BodyReader.chunkSize
                else { return gathered }
                segments.removeFirst()
                if gathered.isEmpty { gathered = data } else { gathered.append(data) }
            case .file(let url, let stamp):
                guard gathered.isEmpty else { return gathered }
                segments.removeFirst()
                file = try BodyReader(file: url, expecting: stamp, isStopped: isStopped)
            }
        }
    }

    func close() {
        file?.close()
    }
}
