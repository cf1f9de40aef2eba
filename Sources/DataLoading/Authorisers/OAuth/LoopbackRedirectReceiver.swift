// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Catches the redirect at the end of a login, for programs without an interface (RFC 8252
/// section 7.3): a server on 127.0.0.1 that waits for one visit of the browser.
///
/// ```swift
/// let receiver = try LoopbackRedirectReceiver()
/// let flow = OAuthConfiguration.Flow.authorizationCode(redirect: receiver.redirectURL)
/// ```
///
/// The delegate's `logIn(at:)` then says where to go, and returns `try await receiver.redirect()`.
/// It listens from its making on, answers every other visit with 404, and stops listening when it is
/// let go. Whether the redirect is the right one is for the authoriser to see.
public final class LoopbackRedirectReceiver: Sendable {
    /// Where the browser has to be sent; to be registered without the port, as RFC 8252 asks of
    /// servers to allow.
    public let redirectURL: URL
    private let socket: RedirectSocket

    /// Listens.
    ///
    /// - Parameters:
    ///   - path: The path of the redirect; default "/callback".
    ///   - port: The port; default 0, for one that is free.
    /// - Throws: `AuthorisationError.invalidConfiguration` when the port cannot be had.
    public init(path: String = "/callback", port: UInt16 = 0) throws {
        socket = try RedirectSocket(port: port)
        guard let url = URL(string: "http://127.0.0.1:\(socket.port)\(path)"), path.hasPrefix("/")
        else { throw AuthorisationError.invalidConfiguration(reason: "the path of the redirect") }
        redirectURL = url
    }

    /// Waits for the browser, and returns the URL that it was sent to.
    ///
    /// - Throws: `CancellationError` when the task is cancelled; one call at a time.
    public func redirect() async throws -> URL {
        let isCancelled = Locked(false)
        let text = redirectURL.absoluteString
        let path = redirectURL.path
        let query = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Accepting blocks, which no thread of the concurrency pool may do.
                Thread.detachNewThread { [socket] in
                    continuation.resume(
                        returning: socket.query(to: path) { isCancelled.withLock { $0 } })
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        guard let query, let url = URL(string: text + query) else { throw CancellationError() }
        return url
    }
}
