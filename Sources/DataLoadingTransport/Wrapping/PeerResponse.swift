// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import Foundation

/// The response of a peer: a head, and a body that is whole or comes in pieces.
public struct PeerResponse: Sendable, OpaquelyMirrored {
    /// The status and the header fields.
    ///
    /// The body is delivered as it is: fields that describe a coding or a length must describe it. A
    /// body of another length than `Content-Length` breaks.
    public var head: ResponseHead
    /// Passes the pieces on until there is none, or until `false` is returned.
    let forEachPiece: @Sendable (_ take: (Data) async -> Bool) async throws -> Void

    /// Makes a response with a whole body.
    public init(_ head: ResponseHead, body: Data = Data()) {
        self.head = head
        forEachPiece = { take in if !body.isEmpty { _ = await take(body) } }
    }

    /// Makes a response whose body is read while it is delivered, as fast as its load takes it.
    ///
    /// An error of the sequence breaks the body.
    public init<Pieces: AsyncSequence & Sendable>(_ head: ResponseHead, pieces: Pieces)
    where Pieces.Element == Data {
        self.head = head
        forEachPiece = { take in
            for try await piece in pieces where !piece.isEmpty {
                guard await take(piece) else { return }
            }
        }
    }
}

extension PeerResponse: CustomStringConvertible {
    /// The status.
    public var description: String { "\(head.status)" }
}
