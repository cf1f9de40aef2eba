// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting

/// The embedded origin's authorization server: one device can log in, and gets two tokens.
final class OriginProvider: Sendable {
    private let isRefreshed = LoopbackGate()
    private let isLoggedOut = LoopbackGate()
    private let incidents: OriginAnswers.Incidents
    /// When the user has entered the code.
    private let consent = ContinuousClock.now + .milliseconds(500)
    private let stream: EventStream

    init(incidents: OriginAnswers.Incidents, stream: EventStream) {
        self.incidents = incidents
        self.stream = stream
    }

    /// Whether a request carries a valid token.
    func accepts(_ request: RecordedRequest) -> Bool {
        guard !isLoggedOut.isOpen else { return false }
        switch request.headers["Authorization"] {
        case "Bearer first-token": return !incidents.revocation.isOpen
        case "Bearer second-token": return isRefreshed.isOpen
        default: return false
        }
    }

    /// Answers at `/session/device`, `/session/token` and `/session/revoke`.
    func answer(_ request: RecordedRequest) -> LoopbackResponse {
        switch request.path {
        case "/session/device": begin()
        case "/session/token":
            request.text.contains("grant_type=refresh_token") ? refresh(request.text) : poll()
        case "/session/revoke": revoke(request.text)
        default: .status(404)
        }
    }

    private func begin() -> LoopbackResponse {
        json(
            """
            {"device_code": "device", "user_code": "WDJB-MJHT", "expires_in": 600, "interval": 1,
             "verification_uri": "http://\(EmbeddedOrigin.host)/activate"}
            """)
    }

    private func poll() -> LoopbackResponse {
        consent < .now
            ? tokens("first") : json(#"{"error": "authorization_pending"}"#, status: 400)
    }

    /// A refresh token can be used once.
    private func refresh(_ form: String) -> LoopbackResponse {
        guard form.contains("refresh_token=first-refresh"), !isRefreshed.isOpen else {
            return json(#"{"error": "invalid_grant"}"#, status: 400)
        }
        isRefreshed.open()
        return tokens("second")
    }

    private func revoke(_ form: String) -> LoopbackResponse {
        isLoggedOut.open()
        let kind = form.contains("-refresh") ? "refresh" : "access"
        stream.note("origin", "revokes the session's \(kind) token at the daemon's request")
        return .ok()
    }

    private func tokens(_ name: String) -> LoopbackResponse {
        json(
            """
            {"access_token": "\(name)-token", "refresh_token": "\(name)-refresh",
             "token_type": "Bearer", "expires_in": 86400}
            """)
    }

    private func json(_ text: String, status: Int = 200) -> LoopbackResponse {
        .status(status, headers: ["Content-Type": "application/json"], body: .text(text))
    }
}
