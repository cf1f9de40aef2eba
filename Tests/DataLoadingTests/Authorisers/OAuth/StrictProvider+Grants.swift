// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import Foundation

extension StrictProvider {
    func exchange(_ form: [String: String]) -> Answer {
        let code = form["code"] ?? ""
        let (asked, isReused) = state.withLock { state in
            (state.codes[code], !state.usedCodes.insert(code).inserted)
        }
        expect(!isReused, "a code is used twice")
        guard let asked, !isReused else { return .refuse("invalid_grant") }
        expect(form["redirect_uri"] == asked["redirect_uri"], "redirect_uri")
        let verifier = form["code_verifier"] ?? ""
        expect((43...128).contains(verifier.count), "the verifier's length")
        expect(
            AuthorizationPage.challenge(for: verifier) == asked["code_challenge"], "code_verifier")
        return issue(family: nil, withRefresh: true)
    }

    func refresh(_ form: [String: String]) -> Answer {
        let token = form["refresh_token"] ?? ""
        let family = state.withLock { state -> Int? in
            guard let family = state.families[token] else { return nil }
            guard state.currentRefresh[family] == token else {
                // Replayed: somebody has stolen one of the line (RFC 9700 section 4.14.2).
                state.violations.append("a refresh token is used twice")
                state.currentRefresh[family] = nil
                state.accessTokens = state.accessTokens.filter { $0.value.family != family }
                return nil
            }
            return family
        }
        guard let family else { return .refuse("invalid_grant") }
        return issue(family: family, withRefresh: true)
    }

    func issue(family: Int?, withRefresh: Bool) -> Answer {
        let expiry = now() + lifetime
        let seconds = lifetime.inSeconds
        return state.withLock { state in
            state.issued += 1
            let number = state.issued
            let family = family ?? number
            let access = "access-\(number)"
            state.accessTokens[access] = (family, expiry)
            var fields: [String: JSONValue] = [
                "access_token": .string(access), "token_type": .string("Bearer"),
                "expires_in": .number(seconds),
            ]
            if withRefresh, state.issuesRefreshTokens {
                let refresh = "refresh-\(number)"
                state.families[refresh] = family
                state.currentRefresh[family] = refresh
                fields["refresh_token"] = .string(refresh)
            }
            return Answer(fields: fields)
        }
    }

    func deviceCode() -> Answer {
        let expiry = now() + .seconds(600)
        return state.withLock { state in
            state.issued += 1
            let code = "device-\(state.issued)"
            state.devices[code] = Device(interval: .seconds(5), expiry: expiry)
            return Answer(fields: [
                "device_code": .string(code), "user_code": .string("WDJB-MJHT"),
                "verification_uri": .string(issuer + "/activate"), "expires_in": .number(600),
                "interval": .number(5),
            ])
        }
    }

    func poll(_ form: [String: String]) -> Answer {
        let code = form["device_code"] ?? ""
        let now = now()
        let answer = state.withLock { state -> Answer? in
            guard var device = state.devices[code] else { return .refuse("invalid_grant") }
            defer { state.devices[code] = device }
            let isTooFast = device.lastPoll.map { now < $0 + device.interval } ?? false
            device.lastPoll = now
            if now >= device.expiry { return .refuse("expired_token") }
            if isTooFast {
                device.interval += .seconds(5)
                state.violations.append("a device asks too often")
                return .refuse("slow_down")
            }
            if device.isDenied { return .refuse("access_denied") }
            return device.isApproved ? nil : .refuse("authorization_pending")
        }
        return answer ?? issue(family: nil, withRefresh: true)
    }

    func revoke(_ question: Question) -> Answer {
        let token = question.form["token"] ?? ""
        state.withLock { state in
            state.revoked.append(token)
            if let family = state.families[token] {
                state.currentRefresh[family] = nil
                state.accessTokens = state.accessTokens.filter { $0.value.family != family }
            }
            state.accessTokens[token] = nil
        }
        return Answer()
    }
}
