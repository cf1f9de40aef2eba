// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingCurl
    import DataLoadingSupport
    @testable import DataLoadingTransport
    @testable import DataLoadingAuth
    import DataLoading
    import DataLoadingTesting
    import Foundation

    /// A server of the soak test and the outcomes that its loads may have.
    struct SoakOrigin: Sendable {
        let title: String
        let server: LoopbackServer
        private let target: String
        private let deadline: Duration
        private let kinds: [FaultCell: Set<String>]

        /// A server without faults.
        static func healthy() throws -> SoakOrigin {
            let server = try LoopbackServer(quiet) { request in
                request.method == .post ? .ok(.pattern(1_000)) : .ok(.pattern(size(of: request)))
            }
            let cells = FaultAxes.plainFirst.cells
            return SoakOrigin(
                title: "no fault", server: server, target: "/fine", deadline: .seconds(60),
                kinds: Dictionary(
                    uniqueKeysWithValues: cells.map { ($0, [FaultExpectation.success]) }))
        }

        /// A server with one of the matrix's faults; nil if the fault needs more than a server.
        static func faulty(_ fault: Fault) throws -> SoakOrigin? {
            guard rows.contains(fault.number), !fault.title.hasPrefix("a gzip bomb"),
                let first = FaultAxes.plainFirst.cells.first
            else { return nil }
            let scene = try fault.scene(first)
            var kinds: [FaultCell: Set<String>] = [:]
            for cell in FaultAxes.plainFirst.cells {
                // A used connection may be there, whatever the fault needs.
                var reused = cell
                reused.connection = .reused
                kinds[cell] = fault.expectation(cell).kinds.union(fault.expectation(reused).kinds)
                if fault.axes.connections == [.reused] {
                    kinds[cell, default: []].insert(FaultExpectation.success)
                }
                // Another load may use the connection between a response and the close after it.
                if scene.closesUnsaid, cell.isPost {
                    kinds[cell, default: []].insert(DataLoaderError.connectionReset.name)
                }
            }
            return SoakOrigin(
                title: "\(fault.number) \(fault.title)",
                server: try LoopbackServer(quiet, script: scene.script),
                target: scene.target + "?" + FaultSecret.query, deadline: scene.deadline,
                kinds: kinds)
        }

        /// The rows whose fault is only in what a plain server sends.
        ///
        /// Rows with a silent server are for the long run: only the idle limit ends them, which
        /// must be long for a busy machine.
        private static var rows: Set<Int> {
            let rows = Set([5, 6, 7, 8, 9] + Array(10...16) + Array(19...29) + [35, 40])
            return SocketSoak.isLong ? rows.union([18, 20]) : rows.subtracting([20])
        }

        private static let quiet: LoopbackServer.Configuration = {
            var configuration = LoopbackServer.Configuration()
            configuration.recordLimit = 16
            configuration.recordedBodyLimit = 1_024
            return configuration
        }()

        private static func size(of request: RecordedRequest) -> Int64 {
            request.indexOnConnection % 16 == 0 ? 200_000 : 1_000
        }

        func request(_ cell: FaultCell) -> DataLoaderRequest {
            var request = DataLoaderRequest(url: server.url(target), sourceIdentifier: "soak")
            request.method = HTTPMethod(rawValue: cell.method.rawValue)
            if cell.isPost { request.body = .data(Data("the body of a request".utf8)) }
            request.chunks = !cell.isWhole
            request.timeout = deadline * patience
            request[option: FaultTracer.self] = FaultTracer()
            return request
        }

        func allows(_ kind: String, in cell: FaultCell) -> Bool {
            kinds[cell]?.contains(kind) == true
        }
    }
#endif
