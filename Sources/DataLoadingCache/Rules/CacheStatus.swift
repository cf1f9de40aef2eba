// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingTransport

/// What the cache did about a load, in the words of the `Cache-Status` field (RFC 9211 section 2).
public struct CacheStatus: Hashable, Sendable {
    /// Why a request was forwarded to the server (RFC 9211 section 2.2).
    public enum Forward: String, Hashable, Sendable {
        /// The load's cache policy goes around the cache.
        case bypass
        /// The method is not one that a cache answers.
        case method
        /// Nothing is stored for the URL.
        case uriMiss = "uri-miss"
        /// What is stored for the URL answers other header fields.
        case varyMiss = "vary-miss"
        /// The request asks for the server, or for something newer than what is stored.
        case request
        /// What is stored is not fresh.
        case stale
        /// The request asks for a part.
        case partial
    }

    /// Why the request was forwarded to the server; nil for a hit.
    public package(set) var forward: Forward?
    /// The status of the server's last response; nil without one.
    ///
    /// It may differ from that of the load, as when a 304 confirms what is stored.
    public package(set) var forwardStatus: HTTPStatus?
    /// How long the stored response was fresh yet when the cache was asked; negative when it was
    /// stale, nil where nothing was stored or its age is not known.
    public package(set) var timeToLive: Duration?
    /// Whether the server's response was given to the cache to be stored.
    public package(set) var isStored = false
    /// Whether the request was shared with other loads, and one of those asked the server.
    public package(set) var isCollapsed = false

    package init(forward: Forward?) {
        self.forward = forward
    }

    /// Whether the stored response answered, and no server was waited for.
    public var isHit: Bool { forward == nil }
}

extension CacheStatus: CustomStringConvertible {
    /// The parameters of the field, as in `hit; ttl=30`.
    public var description: String {
        var words = [forward.map { "fwd=\($0.rawValue)" } ?? "hit"]
        if let forwardStatus { words.append("fwd-status=\(forwardStatus.rawValue)") }
        if let timeToLive { words.append("ttl=\(timeToLive.components.seconds)") }
        if isStored { words.append("stored") }
        if isCollapsed { words.append("collapsed") }
        return words.joined(separator: "; ")
    }
}
