// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// Shows the code of a login.
///
/// An authoriser holds it weakly: the daemon keeps it.
final class LoginPrompt: OAuthDelegate {
    private let wire: Wire

    init(wire: Wire) {
        self.wire = wire
    }

    func show(_ code: DeviceCode) async {
        wire.note(
            "session", "waits for somebody to enter \(code.userCode) at \(code.verificationURL)")
    }
}
