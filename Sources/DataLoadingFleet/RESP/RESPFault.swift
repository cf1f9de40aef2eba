// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Why the bytes of a server are not taken; its connection must be closed.
enum RESPFault: Error, Hashable, Sendable {
    /// A reply, as it came or as it was announced, is larger than the limit.
    case tooLarge
    /// Arrays and maps are in one another, deeper than the limit.
    case tooDeep
    /// A type that is unknown, or that this client does not take: big numbers, attributes, pushes
    /// within a reply.
    case unsupportedType(UInt8)
    /// A line that does not end in CR LF, or has other control bytes.
    case line
    /// A length or a count that is no decimal number.
    case length
    /// A number that is none, or does not fit into 64 bits.
    case number
    /// A null, boolean, double or verbatim string that is malformed.
    case malformed
    /// A reply that no command waits for.
    case unexpectedReply
}
