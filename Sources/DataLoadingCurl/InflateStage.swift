// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl

/// One gzip or deflate coding, decoded with the system's zlib.
final class InflateStage {
    enum Coding {
        case gzip
        /// The zlib format, or the raw one that some servers send under the same name.
        case deflate
    }

    private static let inputSize = 16_384
    private let coding: Coding
    private let stream: UnsafeMutablePointer<ccurl_zstream>
    private var memory: UnsafeMutableRawBufferPointer
    private var isOpen = false
    /// Between members: before the first byte, or after the last byte of one.
    private(set) var isAtEnd = true
    private var mayHaveMore = false

    init(_ coding: Coding) throws(DataLoaderError) {
        guard CurlLibrary.shared?.hasZlib == true else {
            throw .decode(reason: "zlib is not installed")
        }
        self.coding = coding
        stream = .allocate(capacity: 1)
        stream.initialize(to: ccurl_zstream())
        memory = .allocate(byteCount: Self.inputSize, alignment: 16)
    }

    deinit {
        if isOpen { ccurl_inflate_end(stream) }
        stream.deallocate()
        memory.deallocate()
    }

    /// The buffer into which the stage before this one decodes.
    var input: UnsafeMutableRawBufferPointer { memory }

    /// Copies input, after all earlier input was decoded.
    func fill(_ bytes: UnsafeRawBufferPointer) {
        if bytes.count > memory.count {
            memory.deallocate()
            memory = .allocate(byteCount: bytes.count, alignment: 16)
        }
        memory.copyMemory(from: bytes)
        filled(bytes.count)
    }

    func filled(_ count: Int) {
        stream.pointee.next_in = UnsafePointer(
            memory.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(clamping: count)
    }

    /// Inflates until the output is full or the input is used up; returns the number of bytes
    /// written.
    func inflate(into output: UnsafeMutableRawBufferPointer) throws(DataLoaderError) -> Int {
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(clamping: output.count)
        while stream.pointee.avail_out > 0, stream.pointee.avail_in > 0 || mayHaveMore {
            if isAtEnd { try begin() }
            let result = ccurl_inflate(stream)
            mayHaveMore = stream.pointee.avail_out == 0
            switch result {
            case Result.ok: break
            case Result.streamEnd:
                isAtEnd = true
                mayHaveMore = false
            case Result.noProgress: return written(output)
            case Result.noMemory: throw .resources(reason: "memory for decoding")
            default: throw .decode(reason: "the encoded body is broken")
            }
        }
        return written(output)
    }

    private func written(_ output: UnsafeMutableRawBufferPointer) -> Int {
        output.count - Int(stream.pointee.avail_out)
    }

    /// Starts a member: the first one, or with gzip one that follows another.
    private func begin() throws(DataLoaderError) {
        if isOpen {
            guard coding == .gzip else { throw .decode(reason: "bytes after the encoded body") }
            guard ccurl_inflate_reset(stream) == Result.ok else {
                throw .decode(reason: "the encoded body is broken")
            }
        } else {
            guard ccurl_inflate_init(stream, windowBits) == Result.ok else {
                throw .resources(reason: "memory for decoding")
            }
            isOpen = true
        }
        isAtEnd = false
    }

    /// Negative for raw deflate, which has no header; 16 more for gzip.
    private var windowBits: Int32 {
        guard coding == .deflate else { return 15 + 16 }
        guard let start = stream.pointee.next_in, start[0] & 0x0F == 8, start[0] >> 4 <= 7,
            stream.pointee.avail_in < 2 || (Int(start[0]) << 8 | Int(start[1])) % 31 == 0
        else { return -15 }
        return 15
    }

    private enum Result {
        static let ok: Int32 = 0
        static let streamEnd: Int32 = 1
        static let noMemory: Int32 = -4
        static let noProgress: Int32 = -5
    }
}
