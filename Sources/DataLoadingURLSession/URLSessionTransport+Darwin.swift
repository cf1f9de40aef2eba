// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)

    import Foundation

    // Written from the documentation: no line of it was compiled or run on Apple's platforms.
    extension URLSessionTransport {
        /// Stops reading: a suspended task has no network traffic and no time limit.
        static func pause(_ task: URLSessionTask) {
            task.suspend()
        }

        static func resume(_ task: URLSessionTask) {
            task.resume()
        }

        /// Makes later attempts use new connections; the stores that it empties are not used.
        static func dropConnections(of session: QueueIsolated<URLSession?>) async {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                session.async { session in
                    guard let session else { return continuation.resume() }
                    session.reset { continuation.resume() }
                }
            }
        }

        /// Leaves certificates to the system; a 401 without a credential is delivered like any
        /// response.
        static func disposition(
            of challenge: URLAuthenticationChallenge, endTask: () -> Void
        ) -> URLSession.AuthChallengeDisposition {
            .performDefaultHandling
        }

        /// The session delivers every head.
        static func undeliveredHead(of task: URLSessionTask) -> URLResponse? { nil }

        /// The session is not known to send a request again without telling.
        static func mayHaveResent(amongAttempts count: Int) -> Bool { false }

        /// The codes are precise enough.
        static func error(byTextOf error: NSError, hasHead: Bool) -> DataLoaderError? { nil }

        /// Returns the body's own stream, whose length is not checked.
        static func stream(
            of body: RequestBody, isStopped: @escaping @Sendable () -> Bool,
            failed: @escaping @Sendable (DataLoaderError) -> Void
        ) throws(DataLoaderError) -> InputStream? {
            switch body {
            case .data(let data), .encoded(let data, _): return InputStream(data: data)
            case .file(let url):
                guard url.isFileURL, let stream = InputStream(url: url) else {
                    throw .requestBody(reason: "the file cannot be opened")
                }
                return stream
            case .multipart:
                throw .unsupported(reason: "no forms with files over URLSession yet")
            case .stream(_, let provider):
                do { return try provider() } catch {
                    throw DataLoaderError(
                        .requestBody(reason: "the provider threw \(type(of: error))"),
                        underlyingError: error)
                }
            case .oneShot(let stream, _):
                guard let stream = stream.take() else {
                    throw .requestBody(reason: "a one-shot stream was sent before")
                }
                return stream
            }
        }
    }
#endif
