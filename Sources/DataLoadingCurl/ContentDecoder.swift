// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// Decodes gzip and deflate while a body arrives, counts its bytes and checks its end.
///
/// libcurl 7.88 accepts a gzip body that is cut off, and decodes into memory without a limit, a
/// thousandfold, while a transfer is paused. Here output is pulled one buffer at a time.
final class ContentDecoder {
    enum Step: Equatable {
        /// This many bytes were written to the buffer.
        case output(Int)
        /// All input so far is decoded.
        case needsInput
    }

    /// The maximum number of codings; honest responses have fewer.
    static let codingLimit = 5

    private let stages: [InflateStage]
    /// The pieces that any stage has decoded so far.
    private(set) var pieces = 0
    /// The bytes that stages have handed to the next one, and those that the last one has decoded.
    private var (between, decoded): (Int64, Int64) = (0, 0)
    /// The bytes between two stages for each that comes out, and before the first.
    ///
    /// Codings that honest servers apply in a row shrink the body each time, but for some bytes
    /// with every flush. Members that are empty make any number of bytes out of a few, and nothing
    /// comes out.
    private static let (inflation, allowance): (Int64, Int64) = (16, 1 << 20)

    /// Makes a decoder for a Content-Encoding field; nil when the body is not encoded.
    ///
    /// An unknown coding is an error: delivering the encoded bytes as the body would be worse.
    static func make(contentEncoding: String) throws(DataLoaderError) -> ContentDecoder? {
        var stages: [InflateStage] = []
        for part in contentEncoding.split(separator: ",", maxSplits: codingLimit + 1) {
            let coding = trimmed(part)
            if coding.isEmpty || coding.equalsIgnoringASCIICase("identity") { continue }
            guard stages.count < codingLimit else { throw .decode(reason: "too many codings") }
            if coding.equalsIgnoringASCIICase("gzip")
                || coding.equalsIgnoringASCIICase("x-gzip")
            {
                stages.append(try InflateStage(.gzip))
            } else if coding.equalsIgnoringASCIICase("deflate") {
                stages.append(try InflateStage(.deflate))
            } else {
                throw .decode(reason: "unknown content coding")
            }
        }
        // Codings are listed in the order in which they were applied.
        return stages.isEmpty ? nil : ContentDecoder(stages: stages.reversed())
    }

    /// Returns the coding without the white space around it, which a name never contains.
    private static func trimmed(_ part: Substring) -> String {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == 0x09 }
        let bytes = part.utf8.drop(while: isSpace)
        let end = bytes.lastIndex { !isSpace($0) }.map { bytes.index(after: $0) }
        return String(Substring(bytes[..<(end ?? bytes.startIndex)]))
    }

    private init(stages: [InflateStage]) {
        self.stages = stages
    }

    /// Adds encoded bytes, once all earlier ones are decoded.
    func append(_ bytes: UnsafeRawBufferPointer) {
        stages.first?.fill(bytes)
    }

    /// Decodes into a buffer.
    func decode(
        into output: UnsafeMutableRawBufferPointer
    ) throws(DataLoaderError) -> Step {
        try pull(stages.count - 1, into: output)
    }

    /// Checks that the body is complete; an empty body is.
    func finish() throws(DataLoaderError) {
        guard stages.allSatisfy(\.isAtEnd) else {
            throw .decode(reason: "the encoded body is cut off")
        }
    }

    private func pull(
        _ index: Int, into output: UnsafeMutableRawBufferPointer
    ) throws(DataLoaderError) -> Step {
        let stage = stages[index]
        while true {
            let count = try stage.inflate(into: output)
            if count > 0 {
                pieces &+= 1
                if index == stages.count - 1 { decoded.addSaturated(Int64(count)) }
                return .output(count)
            }
            guard index > 0 else { return .needsInput }
            guard case .output(let filled) = try pull(index - 1, into: stage.input) else {
                return .needsInput
            }
            stage.filled(filled)
            between.addSaturated(Int64(filled))
            guard between / Self.inflation <= decoded || between <= Self.allowance else {
                throw .decode(reason: "codings that decode to almost nothing")
            }
        }
    }
}
