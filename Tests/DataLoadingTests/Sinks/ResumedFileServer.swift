// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    import DataLoading
    import DataLoadingTesting
    import Foundation

    /// A server of ranges whose body may change, and which sends slowly enough to be interrupted.
    final class ResumedFileServer: Sendable {
        /// The number of pieces in which a body is sent, with a pause after each.
        private static let pieces = 24
        private let pause: Duration
        private let version = Locked(0)
        private let continued = Locked(0)
        private let running = Locked<LoopbackServer?>(nil)

        init(pause: Duration) throws {
            self.pause = pause
            let server = try LoopbackServer { request in self.answer(request) }
            running.withLock { $0 = server }
        }

        var port: UInt16 { running.withLock { $0?.port ?? 0 } }

        /// The number of answers that continued a part.
        var ranges: Int { continued.withLock { $0 } }

        /// Changes the body of `/changing`.
        func change() { version.withLock { $0 += 1 } }

        func stop() { running.withLock { $0.take() }?.stop() }

        /// The body of a version; each has a length of its own.
        static func body(_ version: Int) -> Data {
            patternBytes(240_000 + 1_000 * version, from: 31 * version)
        }

        /// Whether a file is one of the bodies from start to end.
        static func isWhole(_ file: Data) -> Bool {
            let version = (file.count - 240_000) / 1_000
            return version >= 0 && file == body(version)
        }

        private func answer(_ request: RecordedRequest) -> LoopbackResponse {
            let version = request.path == "/changing" ? version.withLock { $0 } : 0
            let body = Self.body(version)
            var headers: HTTPHeaders = ["ETag": "\"\(version)\""]
            var first = 0
            if let range = request.headers["Range"].flatMap({ Int($0.dropFirst(6).dropLast()) }),
                request.headers["If-Range"] == headers["ETag"], range < body.count
            {
                first = range
                headers["Content-Range"] = "bytes \(first)-\(body.count - 1)/\(body.count)"
                continued.withLock { $0 += 1 }
            }
            headers["Content-Length"] = "\(body.count - first)"
            let status = first == 0 ? 200 : 206
            var steps: [LoopbackStep] = [.head(status, headers: headers)]
            let size = body.count / Self.pieces + 1
            for start in stride(from: first, to: body.count, by: size) {
                let piece = body[start..<min(start + size, body.count)]
                steps += [.content(.data(Data(piece))), .flush]
                if pause > .zero { steps.append(.pause(pause)) }
            }
            return LoopbackResponse(steps)
        }
    }
#endif
