// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingAuth
    @testable import DataLoadingCurl
    import DataLoading
    import DataLoadingTesting
    import Foundation

    extension SceneUser {
        /// A whole GET with the delegate; retried as often as needed, so it succeeds.
        mutating func whole() async {
            let file = anyFile()
            let delay = cancellation()
            let (response, _) = await outcome(
                of: request("/files/\(file.rawValue)"), cancelledAfter: delay)
            end("GET", response, cancelledAfter: delay, file) { isRight($0.body, file) }
        }

        /// A GET in a task, which is cancelled now and then.
        mutating func awaited() async {
            let file = anyFile()
            let delay = cancellation()
            var request = request("/files/\(file.rawValue)")
            request.sourceIdentifier = SceneLedger.Tasks.source
            _ = ledger.begin()
            ledger.note { $0.tasks.performed += 1 }
            let task = Task { [loader, request] in try await loader.response(for: request) }
            if let delay {
                let nanoseconds = Int(delay / .nanoseconds(1))
                DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) {
                    task.cancel()
                }
            }
            do {
                let response = try await task.value
                end("awaited GET", response, cancelledAfter: delay, file) {
                    isRight($0.body, file)
                }
            } catch {
                let error = error as? DataLoaderError
                if error == .cancelled { ledger.note { $0.tasks.cancelled += 1 } }
                end("awaited GET", error, cancelledAfter: delay)
            }
        }

        mutating func head() async {
            let file = anyFile()
            let length = scene.server.site.contents[file]?.count ?? -1
            let delay = cancellation()
            let (response, _) = await outcome(
                of: request("/files/\(file.rawValue)", .head), cancelledAfter: delay)
            end("HEAD", response, cancelledAfter: delay) {
                // Compressed text has another Content-Length or none.
                let told = $0.headers["Content-Length"].flatMap { Int($0) }
                return $0.body?.isEmpty != false && (file != .large || told == length)
            }
        }

        mutating func missing() async {
            let delay = cancellation()
            let (response, _) = await outcome(
                of: request("/files/none-such"), cancelledAfter: delay)
            guard response?.statusCode == .notFound else {
                return end("GET of nothing", response, cancelledAfter: delay) { _ in false }
            }
            ledger.end("GET of nothing", response?.error, isAllowed: true)
        }

        /// A body that is read in chunks, sometimes slowly or not to its end.
        mutating func chunks() async {
            let file = anyFile()
            let request = request("/files/\(file.rawValue)")
            let isSlow = chance(4)
            let stopsEarly = chance(10)
            _ = ledger.begin()
            var body = Data()
            do {
                for try await piece in loader.chunks(for: request) {
                    body.append(piece)
                    if stopsEarly { break }
                    if isSlow { await Self.pause(for: .milliseconds(2)) }
                }
                let isWhole = stopsEarly ? isPrefix(body, file) : isRight(body, file)
                ledger.end("chunks", stopsEarly ? .cancelled : nil, isAllowed: isWhole)
            } catch {
                // Chunks that were delivered cannot be taken back.
                let mayBreak = !body.isEmpty && isPrefix(body, file)
                ledger.end("chunks", error as? DataLoaderError, isAllowed: mayBreak)
            }
        }

        mutating func delegateChunks() async {
            let file = anyFile()
            var request = request("/files/\(file.rawValue)")
            request.chunks = true
            let delay = cancellation()
            let (response, body) = await outcome(of: request, cancelledAfter: delay)
            if let error = response?.error {
                let mayBreak = !body.isEmpty && isPrefix(body, file)
                return ledger.end("delegate's chunks", error, isAllowed: mayBreak)
            }
            end("delegate's chunks", response, cancelledAfter: delay) { _ in isRight(body, file) }
        }

        mutating func file() async {
            let file = anyFile()
            let destination = scene.scratch.url("file-\(generator.next())")
            var request = request("/files/\(file.rawValue)")
            request.responseSink = .file(destination)
            let delay = cancellation()
            let (response, _) = await outcome(of: request, cancelledAfter: delay)
            let body = try? Data(contentsOf: destination)
            try? FileManager.default.removeItem(at: destination)
            end("file", response, cancelledAfter: delay) { _ in isRight(body, file) }
        }

        /// Ends a load that must succeed unless it was cancelled.
        func end(
            _ what: String, _ response: DataLoaderResponse?, cancelledAfter delay: Duration?,
            _ file: ServerSite.File? = nil, _ isRight: (DataLoaderResponse) -> Bool
        ) {
            guard let response else {
                return ledger.end(what, .cancelled, isAllowed: delay != nil)
            }
            let isAllowed = response.error == nil && isRight(response)
            guard !isAllowed, response.error == nil else {
                return ledger.end(what, response.error, isAllowed: isAllowed)
            }
            let difference = file.map { self.difference(response.body ?? Data(), $0) } ?? ""
            ledger.end(
                "\(what) with another body \(difference): \(response.headers), \(response.metrics)",
                nil, isAllowed: false)
        }

        private func end(
            _ what: String, _ error: DataLoaderError?, cancelledAfter delay: Duration?
        ) {
            ledger.end(what, error, isAllowed: error == .cancelled && delay != nil)
        }

        /// Where a body differs from its file.
        private func difference(_ body: Data, _ file: ServerSite.File) -> String {
            let content = scene.server.site.contents[file] ?? Data()
            let common = zip(body, content).prefix { $0 == $1 }.count
            let same = zip(body.reversed(), content.reversed()).prefix { $0 == $1 }.count
            let piece = String(decoding: body.dropFirst(common).prefix(100), as: UTF8.self)
            return
                "(\(body.count) of \(content.count) bytes, the first \(common) and the last \(same) "
                + "equal, \(piece.debugDescription) between)"
        }

        func isPrefix(_ body: Data, _ file: ServerSite.File) -> Bool {
            scene.server.site.contents[file]?.starts(with: body) == true
        }

        /// Waits without a thread.
        static func pause(for time: Duration) async {
            guard time > .zero else { return }
            let nanoseconds = Int(time / .nanoseconds(1))
            await withCheckedContinuation { continuation in
                DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) {
                    continuation.resume()
                }
            }
        }
    }
#endif
