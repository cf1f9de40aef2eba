// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationNetworking) && URLSession

    import Foundation
    import FoundationNetworking

    // Ways round what swift-corelibs-foundation 6.3.1 lacks or gets wrong. Each says which test
    // shows that it is no longer needed.
    extension URLSessionTransport {
        /// There is nothing to hold a task back with: `suspend` closes its connection, and `resume`
        /// then sends the request again.
        ///
        /// To be removed when `fails an attempt whose window overflows` can be made to pause.
        static func pause(_ task: URLSessionTask) {}

        static func resume(_ task: URLSessionTask) {}

        /// Nothing to call: `reset` empties stores that are not there, and keeps connections.
        static func dropConnections(of session: Confined<URLSession?>) async {}

        /// Answers a challenge, which on Linux is only ever that of a 401 whose body is whole.
        ///
        /// Left to itself the task would never end (upstream commit 058258416, in 6.3.3), and a
        /// scheme that it does not know would end the process. To be removed when `hands a 401 with
        /// its challenge on` passes with `.performDefaultHandling`.
        static func disposition(
            of challenge: URLAuthenticationChallenge, endTask: () -> Void
        ) -> URLSession.AuthChallengeDisposition {
            endTask()
            return .cancelAuthenticationChallenge
        }

        /// The head that a task has and nobody was told of: that of a redirect to nowhere.
        ///
        /// Its body is lost. To be removed when `hands a redirect to nowhere on` passes with nil.
        static func unheardHead(of task: URLSessionTask) -> URLResponse? { task.response }

        /// Tells errors apart that all have the code -1, by libcurl's text.
        ///
        /// To be removed when `maps what went wrong` passes without it.
        static func error(byTextOf error: NSError, hasHead: Bool) -> DataLoaderError? {
            guard error.code == URLError.Code.unknown.rawValue else { return nil }
            let text = error.localizedDescription.lowercased()
            if text.contains("connection reset") { return .connectionReset }
            if text.contains("chunk") { return .framing(reason: "chunk") }
            if text.contains("encoding") || text.contains("decompress") {
                return .decode(reason: "content coding")
            }
            // It has no memory for a line that is longer than it will have one.
            if text.contains("too large response header") || !hasHead && text == "out of memory" {
                return .headTooLarge
            }
            if text.contains("header") || text.contains("content-length") {
                return .framing(reason: "header")
            }
            // A certificate is refused before there is a head, a body is cut off after it.
            guard !hasHead else { return .truncatedBody }
            if text.contains("certificate") { return .certificate(reason: text) }
            if text.contains("ssl") || text.contains("tls") || text.contains("handshake") {
                return .tls
            }
            return nil
        }

        /// A stream that is read to its proved end, or fails the attempt.
        ///
        /// Foundation asks for one piece after another on the one queue of all its sessions.
        static func stream(
            of body: RequestBody, failed: @escaping @Sendable (DataLoaderError) -> Void
        ) throws(DataLoaderError) -> InputStream? {
            BodyInputStream(try BodyFeed.open(body), failed: failed)
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
