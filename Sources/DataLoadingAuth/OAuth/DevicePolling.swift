// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import DataLoadingTransport

/// Polls the token endpoint until the person has decided (RFC 8628 sections 3.4 and 3.5).
struct DevicePolling {
    let server: OAuthServer
    weak let owner: OAuthOwner?

    /// Returns the result of `save` for the credentials of the consent.
    ///
    /// The code is then used up, so the service's shutdown waits until they are stored.
    func state<Result>(
        after code: DeviceCode, _ save: (OAuthCredentials) async -> Result
    ) async throws -> Result {
        let timerQueue = server.timerQueue
        let end = timerQueue.now + code.lifetime
        var interval = code.interval
        while true {
            try await timerQueue.sleep(for: min(interval, end - timerQueue.now))
            guard owner != nil else { throw CancellationError() }
            guard timerQueue.now < end else {
                throw AuthorisationError.refused(code: "expired_token")
            }
            do {
                return try await server.delayingShutdown {
                    await save(try await server.credentials(for: .device(code.deviceCode)))
                }
            } catch AuthorisationError.refused(code: "authorization_pending") {
                continue
            } catch AuthorisationError.refused(code: "slow_down") {
                interval += .seconds(5)
            } catch AuthorisationError.load(let error) where Self.mayPass(error) {
                // Section 3.5: poll less often after a temporary failure of the request.
                interval = max(interval, min(interval * 2, .seconds(300)))
            }
        }
    }

    /// Whether the next poll may succeed; a wrong endpoint or an ended service is permanent.
    static func mayPass(_ error: DataLoaderError) -> Bool {
        switch error.kind {
        case .status(let status):
            status.rawValue >= 500 || [408, 429].contains(status.rawValue)
        case .proxy(let fault):
            fault.isTemporary
        case .dns, .connectRefused, .connectTimeout, .tls, .noResponse, .connectionReset,
            .idleTimeout, .truncatedHead, .truncatedBody, .timedOut, .rateLimited, .overloaded,
            .resources, .http2, .transport:
            true
        default:
            false
        }
    }
}
