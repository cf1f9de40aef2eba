// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The part of a login that only the application can do: it shows pages, the library never sees a
/// password.
///
/// An authoriser holds it weakly: who makes it keeps it. A login is one question at a time, in a task
/// of its own that a reset cancels, and has no time limit: loads that wait have their deadlines, and
/// the login goes on without them.
public protocol OAuthDelegate: AnyObject, Sendable {
    /// Shows the page of a login and returns the redirect that it ends with; nil when the person has
    /// given up, which ends the loads that wait `.cannotAuthenticate`.
    ///
    /// Use a browser of the system's, not a view of your own (RFC 8252). `LoopbackRedirectReceiver`
    /// catches the redirect for programs without an interface.
    func logIn(at url: URL) async throws -> URL?

    /// Shows a code to be entered on another device; return once it can be seen, the server is asked
    /// from then on.
    ///
    /// A code that nobody enters in time ends the loads that wait with `.refused(code:
    /// "expired_token")`, a person's no with `.refused(code: "access_denied")`; the next load has a
    /// new code shown.
    func show(_ code: DeviceCode) async throws

    /// Shows the page that ends a person's session, when a reset is over; by default nothing, which is
    /// right after a login in an ephemeral session. Nothing waits for it.
    func logOut(at url: URL) async

    /// Credentials were not written or not deleted; those that are here are used all the same, until
    /// a log out. Both are tried again after 1 s, 2 s and so on up to 60 s, in silence.
    /// Called on any thread, while the store is kept from others: it should return soon.
    func couldNotKeepCredentials(_ error: any Error)

    /// A log out could not have a token revoked, or could not read which there are: whoever has a copy
    /// can use it until it expires. Called for each token, on any thread; by default nothing.
    func couldNotRevokeCredentials(_ error: any Error)
}

extension OAuthDelegate {
    /// Throws: this application has no page to show.
    public func logIn(at url: URL) async throws -> URL? {
        throw AuthorisationError.invalidConfiguration(reason: "the delegate shows no login")
    }

    /// Throws: this application has no place to show a code.
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

/// A delegate that may have gone: then nobody can log in.
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
