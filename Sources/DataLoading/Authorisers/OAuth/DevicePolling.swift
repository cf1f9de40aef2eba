// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Asks until the person has decided (RFC 8628 sections 3.4 and 3.5).
struct DevicePolling {
    let server: OAuthServer
    weak let owner: OAuthOwner?

    /// Returns what `keep` makes of what the consent has brought.
    ///
    /// The code is spent by then: the end of the service waits until they are kept.
    func state<Result>(
        after code: DeviceCode, _ keep: (OAuthCredentials) async -> Result
    ) async throws -> Result {
        let agenda = server.agenda
        let end = agenda.now + code.lifetime
        var interval = code.interval
        while true {
            try await agenda.sleep(for: min(interval, end - agenda.now))
            guard owner != nil else { throw CancellationError() }
            guard agenda.now < end else {
                throw AuthorisationError.refused(code: "expired_token")
            }
            do {
                return try await server.beforeTheEnd {
                    await keep(try await server.credentials(for: .device(code.deviceCode)))
                }
            } catch AuthorisationError.refused(code: "authorization_pending") {
                continue
            } catch AuthorisationError.refused(code: "slow_down") {
                interval += .seconds(5)
            } catch AuthorisationError.load(let error) where Self.mayPass(error) {
                // Section 3.5: whoever does not get through asks less often.
                interval = max(interval, min(interval * 2, .seconds(300)))
            }
        }
    }

    /// Whether the next question may fare better; a wrong endpoint or a service that has ended stays so.
    private static func mayPass(_ error: DataLoaderError) -> Bool {
        switch error {
        case .status(let status):
            status.rawValue >= 500 || [408, 429].contains(status.rawValue)
        case .dns, .connectRefused, .connectTimeout, .noResponse, .connectionReset, .idleTimeout,
            .truncatedHead, .truncatedBody, .timedOut, .rateLimited, .overloaded, .resources,
            .http2, .transport:
            true
        default:
            false
        }
    }
}
