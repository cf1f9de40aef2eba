// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingAuth
    @testable import DataLoadingCurl
    import DataLoading
    import DataLoadingTesting
    import Foundation

    extension SceneUser {
        /// A POST with a number, by which the servers' logs tell how often it arrived.
        ///
        /// A disturbance may fail it, as long as the load reports correctly what it knows.
        mutating func post(_ kind: Kind) async {
            let number = ledger.begin()
            let path = kind == .early ? "/early" : "/work"
            var request = request("\(path)?id=\(number)", .post)
            request.body = body(kind)
            let delay = cancellation()
            let file = request.body?.file
            let (response, _) = await perform(request, cancelledAfter: delay)
            let answer = kind == .early ? scene.server.kind.earlyAnswer : "worked"
            if let file { try? FileManager.default.removeItem(at: file) }
            let posted: SceneLedger.Posted
            var isAllowed = true
            switch response?.error?.kind {
            case nil where response == nil:
                posted = .cancelled
                isAllowed = delay != nil
            case nil:
                posted = .answered
                isAllowed = (response?.body ?? Data()) == Data(answer.utf8)
            case .status(let status):
                posted = .answered
                // haproxy, Caddy and lighttpd may have no server for a moment.
                isAllowed = [400, 403, 408, 411, 413, 500, 502, 503, 504].contains(status.rawValue)
            case .some(let kind):
                posted = DataLoaderError(kind).mayHaveBeenProcessed ? .maybe : .notProcessed
                isAllowed = Self.mayHappen(to: kind)
            }
            ledger.note { $0.posts[number] = posted }
            ledger.end(
                "POST \(kind)", response == nil ? .cancelled : response?.error, isAllowed: isAllowed
            )
        }

        /// A PUT or DELETE, which may be sent again and must therefore succeed.
        mutating func write(_ method: HTTPMethod) async {
            var request = request("/work", method)
            if method == .put { request.body = .data(bytes()) }
            let delay = cancellation()
            let (response, _) = await outcome(of: request, cancelledAfter: delay)
            end(method.rawValue, response, cancelledAfter: delay) {
                $0.body == Data("worked".utf8)
            }
        }

        /// How a request that may not be sent again ends when the server is reloaded or killed.
        private static func mayHappen(to kind: DataLoaderError.Kind) -> Bool {
            switch kind {
            case .noResponse, .connectionReset, .truncatedHead, .truncatedBody, .http2: true
            default: false
            }
        }

        private mutating func body(_ kind: Kind) -> RequestBody {
            let bytes = bytes()
            switch kind {
            case .postFile:
                let file = scene.scratch.url("body-\(generator.next())")
                try? bytes.write(to: file)
                return .file(file)
            case .postStream:
                return .stream { InputStream(data: bytes) }
            default: return .data(bytes)
            }
        }

        /// Mostly small bodies, and some that fill windows and buffers.
        private mutating func bytes() -> Data {
            let sizes = [20, 20, 20, 5_000, 20_000, 100_000, 1_500_000]
            return patternBytes(sizes.randomElement(using: &generator) ?? 20)
        }

        private func perform(
            _ request: DataLoaderRequest, cancelledAfter delay: Duration?
        ) async -> (DataLoaderResponse?, Data) {
            await delegate.outcome(of: request, with: loader) { token in
                guard let delay else { return }
                let nanoseconds = Int(delay / .nanoseconds(1))
                DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) {
                    token.cancel()
                }
            }
        }
    }

    extension RequestBody {
        /// The file of the body.
        fileprivate var file: URL? { if case .file(let url) = self { url } else { nil } }
    }
#endif
