// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
import DataLoadingTransport
public import Foundation

/// The path and the query of a request, below the base URL of an API.
///
/// ```swift
/// let base = URL(string: "https://api.example.com/v1")
/// let endpoint = Endpoint("people", "a/b?c", query: ["fields": "name+age"])
/// print(try endpoint.url(relativeTo: base))
/// // https://api.example.com/v1/people/a%2Fb%3Fc?fields=name%2Bage
/// ```
/// Segments and query items are text that is not encoded. Each of them is percent-encoded except
/// for the unreserved characters of RFC 3986, so that no id becomes another path or another query
/// item.
public struct Endpoint: Hashable, Sendable, OpaquelyMirrored {
    /// The segments of the path below that of the base URL; none for the base URL itself.
    ///
    /// A segment that is empty, "." or ".." is not allowed: such a path means another resource.
    public var path: [String]
    /// The items of the query, in order; an item without a value is a name alone.
    public var query: [URLQueryItem]

    /// Makes an endpoint from segments that are not encoded, and query items in order.
    public init(_ segments: String..., query: KeyValuePairs<String, String> = [:]) {
        self.init(
            path: segments, query: query.map { URLQueryItem(name: $0.key, value: $0.value) })
    }

    /// Makes an endpoint from segments and query items that are built at run time.
    public init(path: [String], query: [URLQueryItem] = []) {
        self.path = path
        self.query = query
    }

    /// Returns the URL of the endpoint below a base URL, which may have a path.
    ///
    /// - Throws: `DataLoaderError.invalidRequest`, with the fault of a segment or of the base URL.
    public func url(relativeTo baseURL: URL?) throws -> URL {
        do throws(RequestFault) {
            return try resolved(at: baseURL)
        } catch {
            throw DataLoaderError.invalidRequest(error)
        }
    }

    private func resolved(at baseURL: URL?) throws(RequestFault) -> URL {
        guard let baseURL else { throw .baseURL }
        // Checks the scheme, the host and every byte.
        _ = try RequestTarget(baseURL)
        let base = baseURL.absoluteString
        guard !base.contains(where: { $0 == "?" || $0 == "#" }) else { throw .baseURL }
        let path = try encodedPath()
        let stem = base.hasSuffix("/") && !path.isEmpty ? String(base.dropLast()) : base
        guard let url = URL(string: stem + path + encodedQuery) else { throw .target }
        return url
    }

    private func encodedPath() throws(RequestFault) -> String {
        var text = ""
        for (index, segment) in path.enumerated() {
            guard !["", ".", ".."].contains(segment) else { throw .pathSegment(index: index) }
            text += "/" + segment.percentEncoded
        }
        return text
    }

    private var encodedQuery: String {
        guard !query.isEmpty else { return "" }
        let items = query.map { item in
            item.name.percentEncoded + (item.value.map { "=" + $0.percentEncoded } ?? "")
        }
        return "?" + items.joined(separator: "&")
    }
}

extension Endpoint: CustomStringConvertible {
    /// The encoded path, without the query, which may hold secrets.
    public var description: String {
        "/" + path.map(\.percentEncoded).joined(separator: "/") + (query.isEmpty ? "" : "?…")
    }
}

extension String {
    /// The text with every byte escaped but the unreserved characters (RFC 3986 section 2.3).
    fileprivate var percentEncoded: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
