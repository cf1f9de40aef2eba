// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Joins small writes, so that a head and a short body are sent in one segment.
final class GatheredOutput {
    private let stream: any ByteStream
    private var gathered: [UInt8] = []

    init(_ stream: any ByteStream) {
        self.stream = stream
    }

    func write(_ bytes: [UInt8]) throws {
        gathered += bytes
        if gathered.count >= LoopbackPayload.sliceSize { try flush() }
    }

    func write(_ payload: LoopbackPayload) throws {
        try payload.forEachSlice { slice in
            if slice.count < LoopbackPayload.sliceSize / 4 {
                try write(Array(slice))
            } else {
                // Long slices are sent without a copy.
                try flush()
                try stream.write(slice)
            }
        }
    }

    /// Writes chunks of the chunked coding, each up to `size` bytes.
    func write(_ payload: LoopbackPayload, inChunksOf size: Int) throws {
        var left = payload.count
        var leftOfChunk: Int64 = 0
        try payload.forEachSlice(atMost: size) { slice in
            var slice = slice[...]
            while !slice.isEmpty {
                if leftOfChunk == 0 {
                    leftOfChunk = min(left, Int64(size))
                    left -= leftOfChunk
                    try write(Array("\(String(leftOfChunk, radix: 16))\r\n".utf8))
                }
                let count = Int(min(Int64(slice.count), leftOfChunk))
                try write(Array(slice.prefix(count)))
                slice = slice.dropFirst(count)
                leftOfChunk -= Int64(count)
                if leftOfChunk == 0 { try write(Array("\r\n".utf8)) }
            }
        }
    }

    func flush() throws {
        guard !gathered.isEmpty else { return }
        // Emptied first: bytes of a failed write must not be sent again.
        let bytes = gathered
        gathered.removeAll(keepingCapacity: bytes.capacity <= LoopbackPayload.sliceSize)
        try bytes.withUnsafeBytes { try stream.write($0) }
    }
}
