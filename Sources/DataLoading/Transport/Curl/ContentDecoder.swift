// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// Undoes gzip and deflate while a body arrives, counted and checked to its end.
    ///
    /// libcurl 7.88 takes a gzip body that was cut off for a whole one, and decodes a thousandfold
    /// into memory while a transfer is paused. Here output is pulled, one buffer at a time.
    final class ContentDecoder {
        enum Step: Equatable {
            /// So many bytes are in the buffer.
            case output(Int)
            /// Everything so far is decoded.
            case needsInput
        }

        /// More codings than that are no honest response.
        static let codingLimit = 5

        private let stages: [InflateStage]

        /// Makes a decoder for a Content-Encoding field; nil when there is nothing to undo.
        ///
        /// A coding that nobody asked for is refused: handing its bytes on as the body would be
        /// worse than an error.
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
            // Codings stand in the order in which they were applied.
            return stages.isEmpty ? nil : ContentDecoder(stages: stages.reversed())
        }

        /// Without the white space around it; inside a name there is none.
        private static func trimmed(_ part: Substring) -> String {
            let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == 0x09 }
            let bytes = part.utf8.drop(while: isSpace)
            let end = bytes.lastIndex { !isSpace($0) }.map { bytes.index(after: $0) }
            return String(Substring(bytes[..<(end ?? bytes.startIndex)]))
        }

        private init(stages: [InflateStage]) {
            self.stages = stages
        }

        /// Takes encoded bytes over, once all earlier ones are decoded.
        func append(_ bytes: UnsafeRawBufferPointer) {
            stages.first?.fill(bytes)
        }

        /// Decodes into a buffer.
        func decode(
            into output: UnsafeMutableRawBufferPointer
        ) throws(DataLoaderError) -> Step {
            try pull(stages.count - 1, into: output)
        }

        /// Checks that the body is whole; a body without a byte is.
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
                if count > 0 { return .output(count) }
                guard index > 0 else { return .needsInput }
                guard case .output(let filled) = try pull(index - 1, into: stage.input) else {
                    return .needsInput
                }
                stage.filled(filled)
            }
        }
    }
#endif
