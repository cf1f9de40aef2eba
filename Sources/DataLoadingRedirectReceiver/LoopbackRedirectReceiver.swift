// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading
public import Foundation

/// Receives the redirect at the end of a login on a server on 127.0.0.1 (RFC 8252 section 7.3).
///
/// For programs without a user interface, whose user opens the page on the same machine:
///
/// ```swift
/// import DataLoadingRedirectReceiver
///
/// let receiver = try LoopbackRedirectReceiver()
/// let flow = OAuthConfiguration.Flow.authorizationCode(redirect: receiver.redirectURL)
/// ```
///
/// The delegate's `logIn(at: page)` then tells the user to open the page, and returns the result of
/// `redirect(from: page)`. The receiver listens from its initialiser until it is released. It
/// answers a request that is not this page's redirect with 404.
public final class LoopbackRedirectReceiver: Sendable {
    /// The redirect URL of the login.
    ///
    /// Register it without the port: RFC 8252 asks servers to allow any port.
    public let redirectURL: URL
    private let origin: String
    private let socket: RedirectSocket

    /// Makes a receiver and starts listening.
    ///
    /// - Parameters:
    ///   - path: The path of the redirect, in URL encoding; default "/callback".
    ///   - port: The port; default 0, which chooses a free one.
    /// - Throws: `AuthorisationError.invalidConfiguration` when the path is malformed or the port
    ///   cannot be used.
    public init(path: String = "/callback", port: UInt16 = 0) throws {
        socket = try RedirectSocket(port: port)
        origin = "http://127.0.0.1:\(socket.port)"
        guard let url = URL(string: origin + path), path.hasPrefix("/"), !path.contains("#")
        else { throw AuthorisationError.invalidConfiguration(reason: "the path of the redirect") }
        redirectURL = url
    }

    /// Waits for the redirect from a page, and returns its URL.
    ///
    /// Requests with another `state` than the page's are answered with 404: they come from an
    /// earlier login or from another user of this machine.
    ///
    /// - Parameter page: The URL that the delegate was asked to show.
    /// - Returns: The redirect's URL, for the delegate to return.
    /// - Throws: `CancellationError` when the task is cancelled. Make one call at a time.
    public func redirect(from page: URL) async throws -> URL {
        let isCancelled = Locked(false)
        let state = Self.state(of: page.absoluteString)
        let target = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Accepting blocks, which no thread of the concurrency pool may do. The thread
                // holds no reference after its answer: a released socket is closed then.
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
        // The redirect's own query is kept, and the answer is appended.
        guard target.hasPrefix(base),
            target.dropFirst(base.count).first == (base.contains("?") ? "&" : "?")
        else { return false }
        return Self.state(of: target) == state
    }

    /// The first `state` of a query, undecoded; the authoriser checks all the rest.
    private static func state(of url: String) -> Substring? {
        let query = url.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        return query.prefix { $0 != "#" }.split(separator: "&").first { $0.hasPrefix("state=") }
    }
}
