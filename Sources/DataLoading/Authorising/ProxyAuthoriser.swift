// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Adds the credential for the proxy to the loads that go through it.
///
/// It asks an authoriser about a request to the proxy's URL, so that an authoriser's hosts and rules
/// for plain http apply to the proxy. The `Authorization` of the answer becomes the
/// `Proxy-Authorization`, which is not a field of the load's request: the transport sends it to the
/// proxy only.
final class ProxyAuthoriser: Authoriser {
    private let proxy: Proxy
    private let url: URL
    private let authoriser: any Authoriser

    /// Nil without an authoriser or without a proxy.
    init?(_ authoriser: (any Authoriser)?, for proxy: Proxy?) {
        guard let authoriser, let proxy, let url = URL(string: proxy.description) else {
            return nil
        }
        self.authoriser = authoriser
        self.proxy = proxy
        self.url = url
    }

    var identifier: String { authoriser.identifier }

    /// The key of its credentials among the stamps of a request.
    var stampKey: ObjectIdentifier { ObjectIdentifier(authoriser) }

    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        // A proxy would pass a TRACE on, and the server send it back (RFC 9110 section 9.3.8).
        guard let origin = try? request.target.origin, proxy.covers(origin),
            request.method != .trace
        else { return .unchanged }
        switch authoriser.authorise(question(about: request)) {
        case .unchanged: return .unchanged
        case .use(let answer): return .use(Self.adding(answer, to: request))
        case .refuse(let error): return .refuse(error)
        case .later(let body): return .later { Self.adding(try await body(), to: request) }
        }
    }

    /// Tells the authoriser of a 407, as of a 401 of the proxy.
    func recover(_ request: DataLoaderRequest, from response: DataLoaderResponse) -> Bool {
        var sent = question(about: request)
        sent.headers["Authorization"] = request[option: ProxyCredential.self]?.fieldValue
        return authoriser.recover(sent, from: response)
    }

    func reset() async { await authoriser.reset() }

    private func question(about request: DataLoaderRequest) -> DataLoaderRequest {
        var question = DataLoaderRequest(url: url, sourceIdentifier: request.sourceIdentifier)
        question[option: CredentialStamps.self] = request[option: CredentialStamps.self]
        return question
    }

    private static func adding(
        _ answer: DataLoaderRequest, to request: DataLoaderRequest
    ) -> DataLoaderRequest {
        guard let value = answer.headers["Authorization"] else { return request }
        var request = request
        request[option: ProxyCredential.self] = ProxyCredential(
            fieldValue: value, needsLoopbackPeer: answer[option: NeedsLoopbackPeer.self])
        request[option: CredentialStamps.self] = answer[option: CredentialStamps.self]
        if let end = answer[option: AuthorisedUntil.self] {
            request[option: AuthorisedUntil.self] = min(
                end, request[option: AuthorisedUntil.self] ?? end)
        }
        return request
    }
}

/// The credential for the proxy in a load's request.
struct ProxyCredential: RequestOption, NeutralOption, OpaquelyMirrored {
    static var defaultValue: ProxyCredential? { nil }

    let fieldValue: String
    /// Whether the proxy must be on this machine, because the credential is sent without TLS.
    let needsLoopbackPeer: Bool
}
