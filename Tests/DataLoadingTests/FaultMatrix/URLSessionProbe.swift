// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationNetworking)
    @testable import DataLoadingCurl
    @testable import DataLoadingAuth
    import DataLoadingSupport
    import DataLoading
    import DataLoadingTesting
    import Dispatch
    import Foundation
    import FoundationNetworking

    /// Loads from a faulty server with URLSession.
    enum URLSessionProbe {
        static let variable = "DATALOADING_URLSESSION_FAULT"
        static let mark = "URLSession: "
        static let environment = ProcessInfo.processInfo.environment
        static let cell = FaultCell(mode: .whole, method: .get, scheme: .http, connection: .first)

        /// Whether the fault applies to URLSession, which has no resolver setting, fallback
        /// addresses, retries or private authorities.
        static func suits(_ fault: Fault) -> Bool {
            guard fault.axes.cells.contains(cell), ![1, 2, 30, 33].contains(fault.number) else {
                return false
            }
            return !fault.title.contains("addresses")
        }

        static func outcome(of fault: Fault) throws -> String {
            let scene = try fault.scene(cell)
            let server = try LoopbackServer(script: scene.script)
            defer { server.stop() }
            try scene.prepare(server)
            let configuration = URLSessionConfiguration.ephemeral
            // With a cache URLSession may crash the process.
            configuration.urlCache = nil
            configuration.timeoutIntervalForRequest = 2
            let session = URLSession(configuration: configuration)
            let port = scene.port ?? server.port
            let ended = DispatchSemaphore(value: 0)
            let result = Locked("nothing within 6 s")
            let url = testURL("http://127.0.0.1:\(port)\(scene.target)")
            session.dataTask(with: url) { data, response, error in
                result.withLock { $0 = describe(data, response, error, scene.meant) }
                ended.signal()
            }.resume()
            _ = ended.wait(timeout: .now() + .seconds(6))
            return result.withLock { $0 } + " (\(server.requestCount) requests)"
        }

        private static func describe(
            _ data: Data?, _ response: URLResponse?, _ error: (any Error)?, _ meant: MeantBody
        ) -> String {
            if let error = error as? URLError { return "error \(error.code.rawValue)" }
            if let error { return "error \((error as NSError).code)" }
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            let body = data ?? Data()
            let isWhole = Int64(body.count) == meant.count && meant.has(body, at: 0)
            return "\(status), \(body.count) bytes, \(isWhole ? "whole" : "not what was meant")"
        }
    }
#endif
