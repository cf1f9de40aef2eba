// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingTransport

/// The stored responses of one URL, the latest last.
package struct VariantList<Body: Sendable>: Sendable {
    package struct Entry: Sendable {
        package var response: StoredResponse
        package var body: Body
    }

    package private(set) var entries: [Entry] = []

    /// The maximum number of variants of a URL: a field of free text, such as `User-Agent`, would
    /// make one for each of its values.
    package static var maxCount: Int { 32 }

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    /// The index of the response that a request chooses: the latest of those that match (RFC 9111
    /// section 4).
    package func index(for request: HTTPHeaders) -> Int? {
        entries.lastIndex { $0.response.variant.matches(request) }
    }

    /// Whether one of the responses that the same request would choose is newer than a response.
    func overtake(_ response: StoredResponse, for request: HTTPHeaders) -> Bool {
        entries.contains {
            $0.response.variant.matches(request)
                && response.isOvertaken(by: $0.response.times, $0.response.headers)
        }
    }

    /// Adds a response in place of those that the same request would choose; returns what had to
    /// leave.
    package mutating func add(_ entry: Entry, for request: HTTPHeaders) -> [Entry] {
        var left = entries.filter { $0.response.variant.matches(request) }
        entries.removeAll { $0.response.variant.matches(request) }
        entries.append(entry)
        if entries.count > Self.maxCount { left.append(entries.removeFirst()) }
        return left
    }

    /// Replaces the fields and times of a response, if it is still there.
    package mutating func update(_ index: Int, by response: StoredResponse) {
        guard entries.indices.contains(index) else { return }
        entries[index].response = response
    }

    /// Replaces the body of a response, if it is still there.
    mutating func update(_ index: Int, body: Body) {
        guard entries.indices.contains(index) else { return }
        entries[index].body = body
    }

    package mutating func remove(_ index: Int) -> Entry? {
        entries.indices.contains(index) ? entries.remove(at: index) : nil
    }
}
