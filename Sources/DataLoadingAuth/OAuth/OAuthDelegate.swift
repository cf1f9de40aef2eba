// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
public import Foundation

/// The application's part of a login: it shows pages, and the library never sees a password.
///
/// An authoriser holds it weakly: keep a reference. A login makes one call at a time, in a task of
/// its own that a reset cancels. It has no time limit: waiting loads have their deadlines, and the
/// login continues without them.
public protocol OAuthDelegate: AnyObject, Sendable {
    /// Shows the page of a login and returns the redirect that ends it.
    ///
    /// Return nil when the person gave up; the waiting loads then end `.cannotAuthenticate`. Use a
    /// browser of the system, not a view of your own (RFC 8252). For programs without a user
    /// interface, the product `DataLoadingRedirectReceiver` receives the redirect.
    func logIn(at url: URL) async throws -> URL?

    /// Shows the user a code to enter on another device.
    ///
    /// Return once it is visible; polling starts then. A code that is not entered in time ends the
    /// waiting loads with `.refused(code: "expired_token")`, a refusal by the person with
    /// `.refused(code: "access_denied")`. For the next load the authoriser gets a new code and
    /// calls this again.
    func show(_ code: DeviceCode) async throws

    /// Shows the page that ends a person's session, after a reset.
    ///
    /// The default does nothing, which is right after a login in an ephemeral session. No call
    /// waits for it.
    func logOut(at url: URL) async

    /// Reports that the store could not be written, emptied or locked.
    ///
    /// A store is not written while it has credentials of another server or client.
    /// Credentials that could not be written stay in use until a log-out. The authoriser retries
    /// writing and deleting after 1 s, 2 s and so on up to 60 s, without further reports. A store
    /// that cannot be locked, or read while it is, fails a refresh: each such refresh is reported.
    /// Called on any thread, while nothing is locked.
    func couldNotKeepCredentials(_ error: any Error)

    /// Reports that a log-out could not revoke a token.
    ///
    /// A copy of such a token can be used until it expires. Called for each token, on any thread;
    /// by default it does nothing. A log-out that ends a request for tokens reports
    /// `AuthorisationError.reset`: the server may have issued some, which no client knows.
    func couldNotRevokeCredentials(_ error: any Error)
}

extension OAuthDelegate {
    /// Throws: this application shows no page.
    public func logIn(at url: URL) async throws -> URL? {
        throw AuthorisationError.invalidConfiguration(reason: "the delegate shows no login")
    }

    /// Throws: this application shows no code.
    public func show(_ code: DeviceCode) async throws {
        throw AuthorisationError.invalidConfiguration(reason: "the delegate shows no code")
    }

    /// Does nothing.
    public func logOut(at url: URL) async {}

    /// Does nothing.
    public func couldNotKeepCredentials(_ error: any Error) {}

    /// Does nothing.
    public func couldNotRevokeCredentials(_ error: any Error) {}
}

/// A weak reference to a delegate; without a delegate a login fails.
struct OAuthDelegateReference: Sendable {
    private weak let delegate: (any OAuthDelegate)?

    init(_ delegate: (any OAuthDelegate)?) {
        self.delegate = delegate
    }

    func logIn(at url: URL) async throws -> URL? {
        try await present.logIn(at: url)
    }

    func show(_ code: DeviceCode) async throws {
        try await present.show(code)
    }

    private var present: any OAuthDelegate {
        get throws(AuthorisationError) {
            guard let delegate else { throw .invalidConfiguration(reason: "no delegate is there") }
            return delegate
        }
    }

    func logOut(at url: URL) async {
        await delegate?.logOut(at: url)
    }

    func couldNotKeepCredentials(_ error: any Error) {
        delegate?.couldNotKeepCredentials(error)
    }

    func couldNotRevokeCredentials(_ error: any Error) {
        delegate?.couldNotRevokeCredentials(error)
    }
}
