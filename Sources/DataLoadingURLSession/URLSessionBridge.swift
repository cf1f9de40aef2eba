// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The session's delegate, which forwards each call to the attempt of its task.
///
/// The session retains it until its end, so it has no reference to the transport. Every method
/// is in the class itself: on Linux a method in an extension is never called.
final class URLSessionBridge: NSObject, URLSessionDataDelegate {
    private let attempts: URLSessionAttempts

    init(_ attempts: URLSessionAttempts) {
        self.attempts = attempts
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The caller follows redirects, and decides about methods, bodies and authorisation.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let disposition = URLSessionTransport.disposition(of: challenge) {
            attempts.attempt(for: task.taskIdentifier)?.sessionEnded(nil)
        }
        completionHandler(disposition, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        // Another send is another attempt.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64, totalBytesExpectedToSend: Int64
    ) {
        attempts.attempt(for: task.taskIdentifier)?.sent(
            totalBytesSent, of: totalBytesExpectedToSend > 0 ? totalBytesExpectedToSend : nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let attempt = attempts.attempt(for: dataTask.taskIdentifier)
        attempt?.received(response)
        // Linux ignores a refusal; by then the attempt has unregistered its task.
        completionHandler(attempt?.isOver == false ? .allow : .cancel)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
    ) {
        attempts.attempt(for: dataTask.taskIdentifier)?.received(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        guard let attempt = attempts.attempt(for: task.taskIdentifier) else { return }
        if error == nil, !attempt.hasHead,
            let head = URLSessionTransport.undeliveredHead(of: task)
        {
            attempt.received(head)
        }
        attempt.sessionEnded(error)
    }
}
