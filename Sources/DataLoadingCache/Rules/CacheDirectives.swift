// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The directives of a message's `Cache-Control` on which a private cache acts (RFC 9111 section
/// 5.2, RFC 5861, RFC 8246).
///
/// `s-maxage`, `private` and `proxy-revalidate` are for shared caches. A directive that comes twice
/// counts with the value that allows less.
package struct CacheDirectives: Hashable, Sendable {
    package var noStore = false
    /// Whether nothing may be reused before it was validated.
    package var noCache = false
    /// The fields that may not be reused before they were validated.
    package var noCacheFields: [String] = []
    package var mustRevalidate = false
    package var mustUnderstand = false
    package var isPublic = false
    package var isPrivate = false
    package var isImmutable = false
    package var onlyIfCached = false
    package var maxAge: Duration?
    package var minFresh: Duration?
    /// How long after its freshness a response is taken; without a number, any time.
    package var maxStale: Duration?
    package var staleWhileRevalidate: Duration?
    package var staleIfError: Duration?

    package init() {}

    /// Reads the values of all `Cache-Control` fields of a message.
    package init(_ fieldValues: [String]) {
        for value in fieldValues {
            var reader = DirectiveReader(value)
            while let directive = reader.next() { add(directive) }
        }
    }

    private mutating func add(_ directive: DirectiveReader.Directive) {
        switch directive.name {
        case "no-store": noStore = true
        case "no-cache": addNoCache(directive)
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        case "only-if-cached": onlyIfCached = true
        case "max-age": Self.lower(&maxAge, to: directive.seconds ?? .zero)
        case "min-fresh":
            minFresh = directive.seconds.map { max($0, minFresh ?? .zero) } ?? minFresh
        case "max-stale":
            let value = directive.hasValue ? directive.seconds : Self.anyTime
            if let value { Self.lower(&maxStale, to: value) }
        case "stale-while-revalidate":
            Self.lower(&staleWhileRevalidate, to: directive.seconds ?? .zero)
        case "stale-if-error": Self.lower(&staleIfError, to: directive.seconds ?? .zero)
        case "public": isPublic = isPublic || !directive.isMalformed
        case "private": isPrivate = true
        case "immutable": isImmutable = isImmutable || !directive.isMalformed
        default: break
        }
    }

    private mutating func addNoCache(_ directive: DirectiveReader.Directive) {
        guard !directive.isMalformed, let list = directive.value else { return noCache = true }
        let names = list.split(separator: ",").map { String($0.trimmingBlanks).asciiLowercased }
        // An empty list names nothing that could be left out.
        if names.allSatisfy(\.isEmpty) { noCache = true }
        noCacheFields += names.filter { !$0.isEmpty }
        guard noCacheFields.count > Self.maxFields else { return }
        // Each reuse looks for all of them.
        noCacheFields = []
        noCache = true
    }

    /// The maximum number of fields that may be left out of a reuse.
    private static let maxFields = 64

    private static func lower(_ value: inout Duration?, to other: Duration) {
        value = min(value ?? other, other)
    }

    /// Longer than anything is stored.
    static let anyTime = Duration.seconds(Int64.max)
}
