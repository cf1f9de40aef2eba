// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Whether a load may share the answer to another load's request that is under way.
///
/// ```swift
/// request.coalescing = .sameRequest
/// ```
/// Loads of one factory that share are one request on the wire: one token, one place in the queue,
/// one response for all of them. The request is as urgent as the most urgent of those that still
/// wait for it. Each keeps its own deadline, its own cancellation and its own outcome; one whose
/// deadline passes before the rate lets the request start ends `.rateLimited` at once. The request
/// runs until its last load has left. A load can join until the head of the response has arrived:
/// the request may have been sent before a change that the program has made since. Loads in chunks
/// and loads with a `responseSink` never share.
public enum Coalescing: RequestOption, Hashable, Sendable {
    /// The load is sent by itself; the default.
    case none
    /// The load shares with loads whose requests have the same method, URL, fields, body in memory,
    /// slot use, idle limit and policies.
    ///
    /// It is sent by itself if its request must not be sent twice (`isIdempotent`), or has a
    /// `retryPolicy`, a redirect policy that asks, or any other option: such values cannot be
    /// compared.
    case sameRequest
    /// The load shares with all loads of this name, whatever their requests are.
    ///
    /// The first one's request is sent. The program that chooses the name knows that the answer
    /// suits all of them.
    case key(String)

    /// None.
    public static var defaultValue: Coalescing { .none }
    /// False: the load that is shared follows redirects itself.
    public static var staysWithOrigin: Bool { false }
}

extension DataLoaderRequest {
    /// Whether the load may share the answer to another load's request; default `.none`.
    public var coalescing: Coalescing {
        get { hasOptions ? self[option: Coalescing.self] : .none }
        set { self[option: Coalescing.self] = newValue }
    }
}
