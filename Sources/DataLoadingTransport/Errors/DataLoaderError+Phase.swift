// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderError {
    /// The stage of a load in which it failed.
    ///
    /// Later versions may add cases: a `switch` outside the package needs `@unknown default`.
    @nonexhaustive public enum Phase: Hashable, Sendable {
        /// The request was checked, and the delegate asked about chunks.
        case preparing
        /// Authorisers were asked.
        case authorising
        /// The load waited for a rate slot, for `Retry-After` or for a connection slot.
        case waitingForSlot
        /// The load paused before another attempt.
        case backingOff
        /// The name of the host was resolved.
        case resolving
        /// The load had no connection yet: its name was resolved, it connected, or TLS began.
        case connecting
        /// The TLS handshake was under way.
        case securing
        /// The request was being sent.
        case sending
        /// The request was sent, and no head of a response had arrived.
        case waitingForHead
        /// The head had arrived, and the body was being read.
        case readingBody
        /// A policy or the delegate decided what follows an attempt.
        case deciding
    }
}

extension DataLoaderError.Phase: CustomStringConvertible {
    /// The phase in words.
    public var description: String {
        switch self {
        case .preparing: "before it was sent"
        case .authorising: "waiting for authorisation"
        case .waitingForSlot: "waiting for a slot"
        case .backingOff: "pausing before a retry"
        case .resolving: "resolving the name"
        case .connecting: "connecting"
        case .securing: "in the TLS handshake"
        case .sending: "sending the request"
        case .waitingForHead: "waiting for the response"
        case .readingBody: "reading the body"
        case .deciding: "deciding what follows"
        }
    }
}
