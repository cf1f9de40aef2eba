// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    import DataLoadingTesting
    import Foundation

    extension SceneUser {
        /// A POST with a number, by which the servers' logs tell how often it came.
        ///
        /// What a disturbance does to it is the server's business, as long as it says what it knows.
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
            switch response?.error {
            case nil where response == nil:
                posted = .cancelled
                isAllowed = delay != nil
            case nil:
                posted = .answered
                isAllowed = (response?.body ?? Data()) == Data(answer.utf8)
            case .status(let status):
                posted = .answered
                // haproxy, Caddy and lighttpd may be short of a server for a moment.
                isAllowed = [400, 403, 408, 411, 413, 500, 502, 503, 504].contains(status.rawValue)
            case .some(let error):
                posted = error.mayHaveBeenProcessed ? .maybe : .notProcessed
                isAllowed = Self.mayHappen(to: error)
            }
            ledger.note { $0.posts[number] = posted }
            ledger.end(
                "POST \(kind)", response == nil ? .cancelled : response?.error, isAllowed: isAllowed
            )
        }

        /// A PUT or DELETE, which may be sent again, and so must succeed.
        mutating func write(_ method: HTTPMethod) async {
            var request = request("/work", method)
            if method == .put { request.body = .data(bytes()) }
            let delay = cancellation()
            let (response, _) = await outcome(of: request, cancelledAfter: delay)
            end(method.rawValue, response, cancelledAfter: delay) {
                $0.body == Data("worked".utf8)
            }
        }

        /// What a server that is reloaded or killed does to a request that may not be sent again.
        private static func mayHappen(to error: DataLoaderError) -> Bool {
            switch error {
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

        /// Small ones for the most part; some that fill windows and buffers.
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
        /// The file that it is read from.
        fileprivate var file: URL? { if case .file(let url) = self { url } else { nil } }
    }
#endif
