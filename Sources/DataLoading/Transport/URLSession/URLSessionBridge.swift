// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || URLSession
    import Foundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// The session's delegate: hands each call to the attempt whose task it is about.
    ///
    /// The session keeps it until its end, so it knows nothing of the transport. Every method stands in
    /// the class itself: on Linux one that stands elsewhere is never called.
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
            // Whoever follows decides about methods, bodies and authorisation too.
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
            // Linux ignores a refusal; the attempt has forgotten its task by then.
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
            if error == nil, !attempt.hasHead, let head = URLSessionTransport.unheardHead(of: task)
            {
                attempt.received(head)
            }
            attempt.sessionEnded(error)
        }
    }
#endif
