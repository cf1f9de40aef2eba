// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// The request of an attempt before an address is chosen.
///
/// A class, because every action in a list takes as much room as the largest.
final class Sending: AttemptDetails {
    let target: RequestTarget
    /// The instant of the load's deadline; nil for none.
    let deadline: Instant?
    let priority: Priority
    /// The addresses that were tried for the attempt already.
    let triedAddresses: Set<String>
    /// Whether the attempt may be skipped when another load just failed to connect.
    let maySpare: Bool
    private let request: DataLoaderRequest
    private let attempt: LoadFacts.AttemptPlace
    private let isRedirected: Bool
    private let isStreaming: Bool
    private let needsFreshConnection: Bool

    /// Makes it from the data of a load; nil before its request was checked.
    init?(_ facts: borrowing LoadFacts) {
        guard let target = facts.target else { return nil }
        self.target = target
        deadline = facts.traits.deadline
        priority = facts.base.priority
        triedAddresses = facts.triedAddresses
        maySpare = facts.maySpare
        request = facts.outgoing
        attempt = facts.attemptPlace
        isRedirected = facts.redirects > 0
        isStreaming = facts.traits.isStreaming
        needsFreshConnection = facts.needsFreshConnection
    }

    var options: RequestOptions { request.options }

    var context: AttemptContext {
        var context = AttemptContext()
        context.load = attempt.load
        context.sourceIdentifier = attempt.performed.sourceIdentifier
        context.resendCount = Int(attempt.starts)
        context.cause = attempt.starts > 0 ? attempt.cause : nil
        context.isInternal = attempt.isInternal
        return context
    }

    /// Returns the request for the transport.
    func transportRequest(
        to candidate: HostResolver.Candidate, _ runtime: Runtime
    ) -> TransportRequest {
        // The fragment is not sent: the transport gets the URL without it.
        let url = request.url.fragment == nil ? nil : URL(string: target.urlText)
        var attempt = TransportRequest(
            method: request.method, url: url ?? request.url, headers: request.headers)
        complete(&attempt, to: candidate, runtime)
        return attempt
    }

    // Not inlined: the compiler then copies the whole request when it is returned.
    @inline(never) private func complete(
        _ attempt: inout TransportRequest, to candidate: HostResolver.Candidate, _ runtime: Runtime
    ) {
        // The target of a redirect may have other bytes than its `URL`.
        if isRedirected { attempt.setText(target.urlText) }
        attempt.body = request.body
        if case .address(let address) = candidate { attempt.address = address }
        if let proxy = runtime.proxy(for: target.origin, candidate) {
            attempt.proxy = proxy
            let credential = request[option: ProxyCredential.self]
            attempt.proxyAuthorization = credential?.fieldValue
            attempt.proxyNeedsLoopbackPeer = credential?.needsLoopbackPeer ?? false
        }
        attempt.connectTimeout = runtime.attempts.timeouts.connect
        attempt.idleTimeout = request.idleTimeout ?? runtime.attempts.timeouts.idle
        attempt.headLimit = runtime.limits.head
        attempt.bodyLimit = isStreaming ? nil : runtime.limits.body
        attempt.serverTrustPolicy =
            request.serverTrustPolicy ?? runtime.trust.withLock { $0 }
        attempt.clientIdentity = request.clientIdentity
        attempt.refusesPrivateAddresses = runtime.attempts.refusesPrivateAddresses
        attempt.http2 = runtime.attempts.http2
        attempt.needsLoopbackPeer = request[option: NeedsLoopbackPeer.self]
        attempt.needsFreshConnection = needsFreshConnection
        attempt.streamsResponse = isStreaming
        if request.body != nil { attempt.expectsContinue = request.expectsContinue }
        attempt.cachePolicy = request.cachePolicy
        attempt.details = self
    }
}
