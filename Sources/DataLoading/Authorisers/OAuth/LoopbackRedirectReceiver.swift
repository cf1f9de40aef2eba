// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Catches the redirect at the end of a login, for programs without an interface (RFC 8252
/// section 7.3): a server on 127.0.0.1 that waits for the browser.
///
/// ```swift
/// let receiver = try LoopbackRedirectReceiver()
/// let flow = OAuthConfiguration.Flow.authorizationCode(redirect: receiver.redirectURL)
/// ```
///
/// The delegate's `logIn(at: page)` then says where to go, and returns
/// `try await receiver.redirect(from: page)`. It listens from its making on, answers every visit that
/// does not come from that page with 404, and stops listening when it is let go.
public final class LoopbackRedirectReceiver: Sendable {
    /// Where the browser has to be sent; to be registered without the port, as RFC 8252 asks of
    /// servers to allow.
    public let redirectURL: URL
    private let origin: String
    private let socket: RedirectSocket

    /// Listens.
    ///
    /// - Parameters:
    ///   - path: The path of the redirect, as it stands in a URL; default "/callback".
    ///   - port: The port; default 0, for one that is free.
    /// - Throws: `AuthorisationError.invalidConfiguration` when the port cannot be had.
    public init(path: String = "/callback", port: UInt16 = 0) throws {
        socket = try RedirectSocket(port: port)
        origin = "http://127.0.0.1:\(socket.port)"
        guard let url = URL(string: origin + path), path.hasPrefix("/"), !path.contains("#")
        else { throw AuthorisationError.invalidConfiguration(reason: "the path of the redirect") }
        redirectURL = url
    }

    /// Waits for the browser to come from a page, and returns the URL that it was sent to.
    ///
    /// Visits with another `state` than the page's are others': those of an earlier login, or of
    /// somebody else on this machine.
    ///
    /// - Parameter page: What the delegate was asked to show.
    /// - Returns: Where the browser was sent, for the delegate to return.
    /// - Throws: `CancellationError` when the task is cancelled; one call at a time.
    public func redirect(from page: URL) async throws -> URL {
        let isCancelled = Locked(false)
        let state = Self.state(of: page.absoluteString)
        let target = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Accepting blocks, which no thread of the concurrency pool may do.
                // It holds nothing once it has answered: a socket that is let go is closed then.
                Thread.detachNewThread { [weak self] in
                    let target = self?.target(with: state) { isCancelled.withLock { $0 } }
                    continuation.resume(returning: target)
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        guard let target, let url = URL(string: origin + target) else { throw CancellationError() }
        return url
    }

    private func target(with state: Substring?, unless isGivenUp: () -> Bool) -> String? {
        socket.target(where: { isRedirect($0, with: state) }, unless: isGivenUp)
    }

    private func isRedirect(_ target: String, with state: Substring?) -> Bool {
        let base = redirectURL.absoluteString.dropFirst(origin.count)
        // A query that the redirect has is kept, and more is put behind it.
        guard target.hasPrefix(base),
            target.dropFirst(base.count).first == (base.contains("?") ? "&" : "?")
        else { return false }
        return Self.state(of: target) == state
    }

    /// The first `state` of a query, as it stands there; the authoriser looks at all the rest.
    private static func state(of url: String) -> Substring? {
        let query = url.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        return query.prefix { $0 != "#" }.split(separator: "&").first { $0.hasPrefix("state=") }
    }
}
