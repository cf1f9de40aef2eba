// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Foundation

/// The decision about a 3xx, by the rules for redirects; pure.
enum Redirection: Sendable {
    /// Deliver the 3xx as it is.
    case deliver
    /// End the load: the redirect must not be followed.
    case refuse(DataLoaderError)
    /// Send this request next, if the request's policy allows it.
    case follow(Next)

    /// The request that a redirect asks for.
    struct Next: Sendable {
        let request: DataLoaderRequest
        let target: RequestTarget
    }

    /// A request that a load has sent, to detect cycles.
    struct Visit: Hashable, Sendable {
        let method: HTTPMethod
        let target: RequestTarget
    }

    /// The maximum number of redirects that are followed: ten, as in SPTDataLoader.
    ///
    /// RFC 9110 section 15.4 wants clients to detect cycles, and names no number.
    static let limit = 10

    /// Fields that describe a body, and are dropped with it.
    private static let contentFields = [
        "Content-Type", "Content-Encoding", "Content-Language", "Content-Location",
        "Content-Disposition", "Content-Range", "Content-MD5", "Content-Digest", "Repr-Digest",
        "Digest", "Last-Modified",
    ]

    /// Decides about a response to `request`, which was made for `origin` and sent to `target`,
    /// after `visits`.
    ///
    /// An authoriser may have changed the origin of the request: all its fields are kept only when
    /// the three origins are the same.
    static func decide(
        _ head: ResponseHead, for request: DataLoaderRequest, madeFor origin: Origin?,
        at target: RequestTarget, visits: [Visit]
    ) -> Redirection {
        guard [301, 302, 303, 307, 308].contains(head.status.rawValue),
            let location = location(head), !location.isEmpty
        else { return .deliver }
        if case .doNotFollow = request.redirectPolicy { return .deliver }
        let method = method(after: head.status, request.method)
        let keepsBody = method == request.method && request.body != nil
        guard visits.count < limit else { return .refuse(.redirectLimit) }

        let text = ReferenceResolution.resolve(location, against: target)
        let next: RequestTarget
        do {
            next = try RequestTarget(text: text)
        } catch .userInformation {
            return .refuse(.redirectRefused(reason: "user information"))
        } catch {
            return .deliver
        }
        if target.origin.isSecure, !next.origin.isSecure,
            !request.allowsRedirectsToHTTP
        {
            return .refuse(.redirectRefused(reason: "https to http"))
        }
        // A URL may hold other bytes than the resolved text, but must have the same origin.
        guard let url = URL(string: next.urlText),
            let read = try? RequestTarget(url), read.origin == next.origin
        else { return .deliver }
        let visit = Visit(method: method, target: next)
        let here = Visit(method: request.method, target: target)
        guard visit != here, !visits.contains(visit) else { return .refuse(.redirectLimit) }

        var followed = request
        followed.url = withFragment(url, of: location, or: request.url)
        followed.method = method
        if !keepsBody {
            followed.body = nil
            for name in contentFields { followed.headers[name] = nil }
        }
        if next.origin != target.origin || next.origin != origin {
            let kept = CrossOriginFields.kept(
                of: followed.headers, naming: request.fieldsKeptAcrossOrigins)
            guard let kept, !keepsBody || request.allowsBodyAcrossOrigins else {
                return .deliver
            }
            followed.headers = kept
            followed.dropOptionsOfOrigin()
        }
        return .follow(Next(request: followed, target: next))
    }

    /// Adds the fragment of a location, or else that of the URL before it (RFC 9110 section
    /// 10.2.2).
    private static func withFragment(_ url: URL, of location: String, or before: URL) -> URL {
        let own = location.utf8.firstIndex(of: UInt8(ascii: "#")).map {
            String(location[$0...].dropFirst())
        }
        guard let fragment = own ?? before.fragment(percentEncoded: true) else {
            return url
        }
        return URL(string: url.absoluteString + "#" + fragment) ?? url
    }

    /// Returns the location that a response names; nil when it names none, or several different
    /// ones.
    private static func location(_ head: ResponseHead) -> String? {
        let values = head.headers.values(for: "Location")
        return values.allSatisfy { $0 == values.first } ? values.first : nil
    }

    /// Returns the method after a redirect (RFC 9110 section 15.4).
    ///
    /// POST becomes GET after 301 and 302, as in other clients. Every method except HEAD becomes
    /// GET after 303. 307 and 308 keep the method.
    private static func method(after status: HTTPStatus, _ method: HTTPMethod) -> HTTPMethod {
        switch status.rawValue {
        case 301, 302: method == .post ? .get : method
        case 303: method == .head ? .head : .get
        default: method
        }
    }
}
