// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import DataLoadingTransport

/// The request fields that chose a response among those of its URL (RFC 9111 section 4.1).
package struct VariantKey: Hashable, Sendable {
    /// A field that the response's `Vary` names, with its value in the request in a normal form.
    package struct Field: Hashable, Sendable {
        package var name: String
        package var value: String?
    }

    /// The maximum number of fields that a response may vary on; one that names more varies on
    /// everything, because each look compares all of them.
    private static let maxNames = 64

    /// Fields that say who asks.
    ///
    /// Who sends another value gets no answer that was made for this one, whatever `Vary` says: a
    /// process may act for several users, unlike a browser.
    private static let credentials: Set = [
        "authorization", "cookie", CacheRequest.authorisers,
        "api-key", "private-token", "x-api-key", "x-auth-token",
    ]

    /// Fields whose values are kept as they are; of every other one only a digest is kept, because
    /// a server chooses the names, and a disk keeps what they had.
    private static let plain: Set = [
        "accept", "accept-charset", "accept-encoding", "accept-language",
    ]

    /// The fields, sorted by their names.
    package private(set) var fields: [Field]
    /// Whether no request chooses the response.
    private var isOfNothing = false

    /// The key of a response that varies on more than its request since it was confirmed.
    package static let ofNothing: VariantKey = {
        var key = VariantKey(stored: [])
        key.isOfNothing = true
        return key
    }()

    /// Takes the fields that a response varies on from its request; nil when it varies on more
    /// than its request ("*").
    package init?(_ response: HTTPHeaders, request: HTTPHeaders) {
        guard var names = Self.names(response) else { return nil }
        names.formUnion(Self.credentials)
        // A transport decodes bodies for those who do not say what they accept. The stored body is
        // what one of the two got, also where a server forgets to say that it varies.
        if response.contains("Content-Encoding") { names.insert("accept-encoding") }
        fields = names.sorted().map { Field(name: $0, value: Self.value(of: $0, in: request)) }
    }

    /// The fields that a response says it varies on; nil when it varies on more than its request.
    static func names(_ response: HTTPHeaders) -> Set<String>? {
        guard response.contains("Vary") else { return [] }
        let names = Set(response.tokens(of: "Vary"))
        return names.contains("*") || names.count > maxNames ? nil : names
    }

    /// Makes the key that a store kept.
    package init(stored fields: [Field]) {
        self.fields = fields
    }

    /// Whether a request would have chosen the response as well.
    package func matches(_ request: HTTPHeaders) -> Bool {
        !isOfNothing && fields.allSatisfy { Self.value(of: $0.name, in: request).isSame($0.value) }
    }

    /// What tells the values of all fields of a name from others; nil without such a field.
    private static func value(of name: String, in request: HTTPHeaders) -> String? {
        guard request.contains(name) else { return nil }
        let values = request.values(for: name)
        let text =
            credentials.contains(name) ? values.joined(separator: "\n") : normal(values, name)
        guard !plain.contains(name) else { return text }
        return SHA256.hash(text.utf8).reduce(into: "") { $0 += String($1, radix: 16) + "." }
    }

    /// The values in a form that is the same for values of one meaning: no blanks around members,
    /// and languages in one case and order.
    private static func normal(_ values: [String], _ name: String) -> String {
        guard !values.contains(where: { $0.utf8.contains(UInt8(ascii: "\"")) }) else {
            // A comma in a quoted string separates nothing.
            return values.map { String($0.trimmingBlanks) }.joined(separator: ",")
        }
        var members = values.flatMap { $0.split(separator: ",") }
            .map { String($0.trimmingBlanks) }
            .filter { !$0.isEmpty }
        if name == "accept-language" {
            // RFC 9110 section 12.5.4 gives their order no meaning, and RFC 5646 section 2.1.1 none
            // to their case.
            members = members.map { $0.filter { $0 != " " && $0 != "\t" }.asciiLowercased }.sorted()
        }
        return members.joined(separator: ",")
    }
}

extension String? {
    /// Whether both are nil, or have the same bytes.
    fileprivate func isSame(_ other: String?) -> Bool {
        guard let self, let other else { return self == nil && other == nil }
        return self.hasSameBytes(as: other)
    }
}
