// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Foundation

/// The bytes of a file of the cache.
///
/// ```
/// "DLCache1"   8 bytes: the format and its version
/// UInt32       the length of the head, with these 24 bytes and its checksum
/// UInt64       the length of the body
/// UInt32       zero
/// …            partition, URL, status, times, fields, variant, the checksums of the blocks
/// UInt64       the checksum of the head
/// …            the body, to the end of the file
/// ```
/// Numbers begin with their lowest byte. Whatever the bytes are, reading them ends with a head that
/// was written as it is, or with nil.
enum EntryFormat {
    private static let magic = Array("DLCache1".utf8)
    /// The number of bytes that say how long head and body are.
    static let prefixLength = 24
    /// The maximum length of a head; the heads of responses have at most 256 KiB by default.
    static let maxHeadLength = 4 << 20
    /// The maximum length of a body.
    static let maxBodyLength = 1 << 30
    private static let checksumLength = 8
    private static let partitionLength = 32

    /// How long the parts of a file are.
    struct Lengths: Hashable, Sendable {
        var head: Int
        var body: Int
        /// The length of the whole file.
        var file: Int { head + body }
    }

    /// Reads the lengths; nil when they are none.
    static func lengths(_ prefix: [UInt8]) -> Lengths? {
        var reader = EntryReader(prefix[...])
        guard reader.raw(magic.count)?.elementsEqual(magic) == true,
            let head = reader.number(UInt32.self), let body = reader.number(UInt64.self),
            reader.number(UInt32.self) == 0,
            head >= prefixLength + checksumLength, head <= maxHeadLength, body <= maxBodyLength
        else { return nil }
        return Lengths(head: Int(head), body: Int(body))
    }

    /// The bytes of a head; nil when it is too large.
    static func encode(_ head: EntryHead) -> [UInt8]? {
        guard head.partition.count == partitionLength, (0...maxBodyLength).contains(head.bodyLength)
        else { return nil }
        var content = EntryWriter()
        content.add(raw: head.partition)
        content.add(head.url)
        content.add(UInt16(clamping: head.status))
        content.add(head.received)
        content.add(head.delay)
        content.add(UInt32(clamping: head.headers.fields.count))
        for field in head.headers.fields {
            content.add(field.name)
            content.add(field.value)
        }
        content.add(UInt32(clamping: head.variant.count))
        for field in head.variant {
            content.add(field.name)
            content.add(UInt8(field.value == nil ? 0 : 1))
            if let value = field.value { content.add(value) }
        }
        for block in head.blocks { content.add(block) }
        let length = prefixLength + content.bytes.count + checksumLength
        guard length <= maxHeadLength else { return nil }
        var whole = EntryWriter()
        whole.add(raw: magic)
        whole.add(UInt32(length))
        whole.add(UInt64(head.bodyLength))
        whole.add(UInt32(0))
        whole.add(raw: content.bytes)
        whole.add(XXHash64.hash(whole.bytes))
        return whole.bytes
    }

    /// Reads a head with its prefix and its checksum; nil unless all of it is right.
    static func decode(_ bytes: [UInt8]) -> EntryHead? {
        guard let lengths = lengths(bytes), lengths.head == bytes.count else { return nil }
        let content = bytes.dropLast(checksumLength)
        var end = EntryReader(bytes.suffix(checksumLength))
        guard end.number(UInt64.self) == XXHash64.hash(content) else { return nil }
        var reader = EntryReader(content.dropFirst(prefixLength))
        guard let partition = reader.raw(partitionLength), let url = reader.text(),
            let status = reader.number(UInt16.self), let received = reader.number(Int64.self),
            let delay = reader.number(Int64.self), let headers = headers(&reader),
            let variant = variant(&reader), let blocks = blocks(&reader, lengths.body),
            reader.isAtEnd
        else { return nil }
        return EntryHead(
            partition: Array(partition), url: url, status: Int(status), headers: headers,
            variant: variant, received: received, delay: delay, bodyLength: lengths.body,
            blocks: blocks)
    }

    private static func headers(_ reader: inout EntryReader) -> HTTPHeaders? {
        var fields: [HTTPHeaders.Field] = []
        // Each field takes at least the eight bytes of its lengths.
        guard let count = reader.number(UInt32.self), Int(count) <= reader.count / 8 else {
            return nil
        }
        for _ in 0..<count {
            guard let name = reader.text(), let value = reader.text() else { return nil }
            fields.append(HTTPHeaders.Field(name: name, value: value))
        }
        return HTTPHeaders(fields)
    }

    private static func variant(_ reader: inout EntryReader) -> [VariantKey.Field]? {
        var fields: [VariantKey.Field] = []
        guard let count = reader.number(UInt32.self), Int(count) <= reader.count / 5 else {
            return nil
        }
        for _ in 0..<count {
            guard let name = reader.text(), let hasValue = reader.number(UInt8.self) else {
                return nil
            }
            var field = VariantKey.Field(name: name, value: nil)
            if hasValue != 0 {
                guard let value = reader.text() else { return nil }
                field.value = value
            }
            fields.append(field)
        }
        return fields
    }

    private static func blocks(_ reader: inout EntryReader, _ bodyLength: Int) -> [UInt64]? {
        var blocks: [UInt64] = []
        for _ in 0..<EntryHead.blockCount(bodyLength) {
            guard let block = reader.number(UInt64.self) else { return nil }
            blocks.append(block)
        }
        return blocks
    }
}
