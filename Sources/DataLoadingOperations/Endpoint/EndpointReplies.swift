// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// Answers requests: who may ask, and what is told.
struct EndpointReplies: Sendable {
    /// What becomes of a request.
    enum Reply {
        case response(EndpointResponse)
        /// The answer comes by post.
        case later
        case events(any LiveFeed)
    }

    private let content: EndpointContent
    /// Takes an answer from another thread.
    private let post: @Sendable (EndpointServer.Answer) -> Void
    private let protectsMetrics: Bool
    private var access: EndpointAccess

    init(
        _ endpoint: OperationsEndpoint, _ content: EndpointContent, port: UInt16?,
        post: @escaping @Sendable (EndpointServer.Answer) -> Void
    ) {
        self.content = content
        self.post = post
        protectsMetrics = endpoint.protectsMetrics
        var token: String?
        if case .loopback(_, let own) = endpoint.place { token = own }
        access = EndpointAccess(token: token, hosts: endpoint.allowedHosts, port: port)
    }

    mutating func reply(
        to request: EndpointRequest, of connection: Int, at now: Instant
    ) -> Reply {
        let resource = EndpointResource(request.path, content.dashboard)
        let needsToken =
            request.refusal == nil
            && resource?.needsToken(protectsMetrics: protectsMetrics) ?? false
        let status = access.refusal(of: request, needsToken: needsToken, at: now)
        if let status = status ?? request.refusal { return .response(EndpointResponse(status)) }
        switch resource {
        case .metrics:
            let exposition = content.exposition(request.headers["Accept"])
            return .response(
                EndpointResponse(
                    .ok, contentType: exposition.contentType, Array(exposition.body)))
        case .health:
            ask(for: connection) { $0.isLive }
            return .later
        case .readiness:
            ask(for: connection) { $0.isReady }
            return .later
        case .snapshot: return .response(.json(content.snapshot()))
        case .events(let feed):
            return request.isHead
                ? .response(EndpointResponse(.ok, contentType: Self.eventStream, []))
                : .events(feed)
        case .page(let page): return .response(page)
        case nil: return .response(EndpointResponse(.notFound))
        }
    }

    static let eventStream = "text/event-stream"

    private func ask(for connection: Int, _ isWell: @escaping @Sendable (Health) -> Bool) {
        Task { [content, post] in
            let health = await content.health()
            let text = health.reasons.isEmpty ? "ok" : health.reasons.joined(separator: "\n")
            post(
                EndpointServer.Answer(
                    connection: connection,
                    response: EndpointResponse(isWell(health) ? .ok : .unavailable, text: text)))
        }
    }
}
