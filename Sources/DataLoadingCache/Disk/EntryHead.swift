// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// What a file of the cache says of its response, before the body: a pure value.
///
/// The body is checked in blocks, so that none of its bytes is delivered unchecked and a large body
/// need not be read twice.
struct EntryHead: Hashable, Sendable {
    /// Whose response it is, as `DiskKey` names partitions.
    var partition: [UInt8]
    var url: String
    var status: Int
    var headers: HTTPHeaders
    var variant: [VariantKey.Field]
    /// When the response arrived, in milliseconds since 1970.
    var received: Int64
    /// How long it took, in nanoseconds.
    var delay: Int64
    var bodyLength: Int
    /// The checksum of each block of the body.
    var blocks: [UInt64]

    /// The length of a block; the last one may be shorter.
    static let blockLength = 65_536

    /// The checksums of a body's blocks.
    static func blocks(of body: Data) -> [UInt64] {
        (0..<blockCount(body.count)).map { index in
            let start = body.startIndex + index * blockLength
            return checksum(body[start..<min(start + blockLength, body.endIndex)], index)
        }
    }

    /// The checksum of a block; the number of the block is in it, so that no other block matches.
    static func checksum(_ block: Data, _ index: Int) -> UInt64 {
        XXHash64.hash(block, seed: UInt64(index))
    }

    /// The number of blocks of a body whose length is no more than `EntryFormat` allows.
    static func blockCount(_ bodyLength: Int) -> Int {
        (bodyLength + blockLength - 1) / blockLength
    }
}

extension EntryHead {
    /// Makes the head of a response; nil for one that no request chooses.
    init?(_ response: StoredResponse, _ key: DiskKey, bodyLength: Int, blocks: [UInt64]) {
        guard response.variant != .ofNothing else { return nil }
        self.init(
            partition: key.partition, url: key.url, status: response.status.rawValue,
            headers: response.headers, variant: response.variant.fields,
            received: response.times.received.wall,
            delay: response.times.delay.wholeNanoseconds, bodyLength: bodyLength, blocks: blocks)
    }

    var variantKey: VariantKey { VariantKey(stored: variant) }

    /// The response for the rules; `own` is the moment at which this process has received it, if it
    /// did.
    func response(
        own: CacheMoment?, hasQuery: Bool, _ heuristic: HeuristicFreshness
    ) -> StoredResponse {
        StoredResponse(
            status: HTTPStatus(rawValue: status), headers: headers, variant: variantKey,
            times: times(own: own), hasQuery: hasQuery, heuristic)
    }

    /// The times; `own` is the moment at which this process has received the response, if it did.
    func times(own: CacheMoment?) -> ResponseTimes {
        let delay = Duration.nanoseconds(delay)
        guard let own, own.wall == received else {
            return ResponseTimes(receivedAt: received, delay: delay)
        }
        return ResponseTimes(own: own, delay: delay)
    }

    /// Whether a response that was found before is the one of this file.
    func isOf(_ response: StoredResponse) -> Bool {
        received == response.times.received.wall
            && delay == response.times.delay.wholeNanoseconds
            && status == response.status.rawValue && variantKey == response.variant
            && headers.hasSameBytes(as: response.headers)
    }
}
