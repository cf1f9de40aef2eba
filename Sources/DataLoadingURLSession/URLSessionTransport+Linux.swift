// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationNetworking)

    import DataLoadingTransport
    import DataLoadingSupport
    import Foundation
    import FoundationNetworking

    // Workarounds for swift-corelibs-foundation 6.3.1. Each names the test that must pass before it
    // can be removed.
    extension URLSessionTransport {
        /// Does nothing: `suspend` closes the connection, and `resume` then sends the request
        /// again.
        ///
        /// Remove when `an attempt whose window overflows fails` can be changed to pause.
        static func pause(_ task: URLSessionTask) {}

        static func resume(_ task: URLSessionTask) {}

        /// Does nothing: `reset` empties stores that do not exist, and keeps connections.
        static func dropConnections(of session: QueueIsolated<URLSession?>) async {}

        /// Answers a challenge, which on Linux is always that of a 401 whose body is complete.
        ///
        /// With default handling the task would never end (upstream commit 058258416, in 6.3.3),
        /// and an unknown scheme would end the process. Remove when `a 401 with a challenge is
        /// delivered` passes with `.performDefaultHandling`.
        static func disposition(
            of challenge: URLAuthenticationChallenge, endTask: () -> Void
        ) -> URLSession.AuthChallengeDisposition {
            endTask()
            return .cancelAuthenticationChallenge
        }

        /// Returns a head that the session has not delivered: that of a redirect without a valid
        /// target.
        ///
        /// Its body is lost. Remove when `a redirect without a valid target is delivered` passes
        /// with nil.
        static func undeliveredHead(of task: URLSessionTask) -> URLResponse? { task.response }

        /// Whether an attempt that failed to connect may have sent its request before.
        ///
        /// Where a kept connection ends under a request, libcurl sends the request again on a new
        /// one, and tells only how that has ended. The one attempt of a session had no connection
        /// of another to send on. Remove when the session tells each connection of a task.
        static func mayHaveResent(amongAttempts count: Int) -> Bool { count > 1 }

        /// Distinguishes errors with the code -1 by libcurl's text.
        ///
        /// Remove when `each failure is mapped to its error` passes without it.
        static func error(byTextOf error: NSError, hasHead: Bool) -> DataLoaderError? {
            guard error.code == URLError.Code.unknown.rawValue else { return nil }
            let text = error.localizedDescription.lowercased()
            if text.contains("connection reset") { return .connectionReset }
            if text.contains("chunk") { return .framing(reason: "chunk") }
            if text.contains("encoding") || text.contains("decompress") {
                return .decode(reason: "content coding")
            }
            // A line past libcurl's limit is reported as a lack of memory.
            if text.contains("too large response header") || !hasHead && text == "out of memory" {
                return .headTooLarge
            }
            if text.contains("header") || text.contains("content-length") {
                return .framing(reason: "header")
            }
            // A certificate is refused before there is a head; a body is cut off after it.
            guard !hasHead else { return .truncatedBody }
            if text.contains("certificate") { return .certificate(reason: text) }
            if text.contains("ssl") || text.contains("tls") || text.contains("handshake") {
                return .tls
            }
            return nil
        }

        /// Returns a stream that checks the body's length at its end, or fails the attempt.
        ///
        /// Foundation asks for one piece after another on the one queue of all its sessions, which a pipe
        /// without a writer would hold for ever: `isStopped` ends its reads.
        static func stream(
            of body: RequestBody, isStopped: @escaping @Sendable () -> Bool,
            failed: @escaping @Sendable (DataLoaderError) -> Void
        ) throws(DataLoaderError) -> InputStream? {
            BodyInputStream(try body.openSource(isStopped: isStopped), failed: failed)
        }
    }

    /// A body as Foundation reads it: `hasBytesAvailable` must be true until the end is known.
    private final class BodyInputStream: InputStream {
        private var source: any BodySource
        private let failed: @Sendable (DataLoaderError) -> Void
        private var rest = Data()
        private var status = Stream.Status.notOpen

        init(_ source: any BodySource, failed: @escaping @Sendable (DataLoaderError) -> Void) {
            self.source = source
            self.failed = failed
            super.init(data: Data())
        }

        deinit {
            source.close()
        }

        override var hasBytesAvailable: Bool { status != .atEnd && status != .closed }
        override var streamStatus: Stream.Status { status }

        override func open() {
            if status == .notOpen { status = .open }
        }

        override func close() {
            status = .closed
        }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
            guard status != .atEnd, status != .closed, len > 0 else { return 0 }
            do throws(DataLoaderError) {
                if rest.isEmpty {
                    guard let next = try source.next() else {
                        status = .atEnd
                        return 0
                    }
                    rest = next
                }
                let count = min(len, rest.count)
                rest.copyBytes(to: buffer, count: count)
                rest = rest.count == count ? Data() : rest.dropFirst(count)
                return count
            } catch {
                status = .error
                failed(error)
                return -1
            }
        }
    }
#endif
