// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    @testable import DataLoadingAuth
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation

    /// Runs one cell of a fault with a server, a service and a load of its own.
    struct FaultRunner: Sendable {
        let fault: Fault
        let cell: FaultCell
        var column = FaultColumn.curl

        enum Failure: Error {
            case noTLS, warmUp
        }

        /// Returns the violations of the cell, and whether a busy machine could have caused them.
        ///
        /// Where limits are short, a busy machine can cause another error or another attempt. It
        /// cannot cause a second outcome, wrong bytes or a secret in a text.
        func run(pace: Int) async throws -> (violations: [FaultViolation], mayBeLate: Bool) {
            let scene = column.adapt(try fault.scene(cell).at(pace))
            let server = try makeServer(scene)
            defer { server.stop() }
            let service = DataLoaderService(configuration: configuration(scene))
            service.resolver.setAddresses(
                addresses(scene, server), forHost: column.host)
            let seen = try await observe(scene, server, service)
            let expectation = fault.expectation(cell)
            let violations = FaultInvariants(
                scene: scene, expectation: expectation, seen: seen
            ).violations
            // No load of the machine makes a POST go out twice.
            let isDoubled = cell.isPost && seen.requestCount > expectation.requests.upperBound
            let mayBeLate = violations.allSatisfy { violation in
                switch violation.invariant {
                case 2: true
                case 3, 4: scene.isHasty && !isDoubled
                default: false
                }
            }
            return (violations, mayBeLate)
        }

        private func makeServer(_ scene: FaultScene) throws -> LoopbackServer {
            guard scene.serverIsSecure ?? cell.isSecure else {
                return try LoopbackServer(script: scene.script)
            }
            guard let identity = TestIdentity.all?[scene.identity] else { throw Failure.noTLS }
            return try LoopbackServer(
                script: scene.script, cipher: LoopbackTLS.cipher(identity, scene.tls))
        }

        private func addresses(_ scene: FaultScene, _ server: LoopbackServer) -> [String] {
            scene.addresses.map {
                $0.replacingOccurrences(of: "PORT", with: "\(scene.port ?? server.port)")
            }
        }

        private func configuration(_ scene: FaultScene) -> DataLoaderService.Configuration {
            var configuration = DataLoaderService.Configuration()
            configuration.transport = TracedTransport(
                next: column.transport(scene), tracer: FaultTracer())
            configuration.timeouts = scene.timeouts
            configuration.http2 = http2(scene)
            configuration.limits.body = Self.bodyLimit
            configuration.retry.timer = ExponentialTimer(
                initialTime: .milliseconds(1), maxTime: .milliseconds(1), jitter: .none)
            configuration.retry.throttledTimer = configuration.retry.timer
            guard column.takesTrust else { return configuration }
            var trust = ServerTrustPolicy(
                certificateAuthorities: TestIdentity.all?[.good]?.authority)
            if let pins = scene.pins { trust.pinnedPublicKeys = [column.host: pins] }
            configuration.serverTrustPolicy = trust
            return configuration
        }

        /// A connection on which HTTP/2 was offered and refused closes with its load, so the next
        /// load could not reuse it.
        private func http2(_ scene: FaultScene) -> HTTP2Use {
            if scene.identity == .http2 { return .always }
            return cell.isReused ? .never : .automatic
        }

        /// The maximum body in whole mode, much less than I7 allows.
        static let bodyLimit: Int64 = 2_097_152

        private func observe(
            _ scene: FaultScene, _ server: LoopbackServer, _ service: DataLoaderService
        ) async throws -> FaultObservation {
            let lines = EventRecorder<String>()
            let loggers = [ConsumptionLogger.Format.text, .json].map { format in
                ConsumptionLogger(format: format) { lines.record($0) }
            }
            let queue = DispatchQueue(label: "matrix.log")
            for logger in loggers { service.addConsumptionObserver(logger, on: queue) }
            let delegate = FaultDelegate(meant: scene.meant, tracer: FaultTracer())
            let loader = service.makeFactory().makeDataLoader(
                delegate: delegate, delivery: .ofTests)
            if cell.isReused { try await warmUp(loader, scene, server) }
            let warmRequests = server.requestCount
            try scene.prepare(server)

            let begun = ContinuousClock.now
            loader.perform(request(scene, server))
            let hasEnded = await delegate.end(within: scene.deadline + .seconds(5) * patience)
            if hasEnded { _ = await lines.first(2 * (cell.isReused ? 2 : 1)) }
            scene.finish()
            let address = service.resolver.address(forHost: column.host)
            let isEjected = addresses(scene, server).first.map { $0 != address } ?? false
            await service.shutDown(gracePeriod: .zero)
            server.stop()
            withExtendedLifetime((loader, loggers)) {}

            let heard = delegate.heard
            let outcome = heard.terminals.first
            return FaultObservation(
                cell: cell, heard: heard,
                time: (outcome?.at ?? .now) - begun,
                requests: Array(server.requests.dropFirst(warmRequests)),
                requestCount: scene.requestCount?()
                    ?? server.requestCount - warmRequests,
                warmConnection: cell.isReused ? server.requests.first?.connection : nil,
                texts: lines.elements + (outcome.map(FaultObservation.texts) ?? []),
                isEjected: isEjected)
        }

        /// Opens the connection in the same mode, which decides about the protocol.
        private func warmUp(
            _ loader: DataLoader, _ scene: FaultScene, _ server: LoopbackServer
        ) async throws {
            let request = DataLoaderRequest(url: url(FaultScene.warmPath, scene, server))
            var body = Data()
            if cell.isWhole {
                body = try await loader.response(for: request).body ?? Data()
            } else {
                for try await chunk in loader.chunks(for: request) { body += chunk }
            }
            guard body == Data("warm".utf8) else { throw Failure.warmUp }
        }

        private func request(_ scene: FaultScene, _ server: LoopbackServer) -> DataLoaderRequest {
            let sign = scene.target.contains("?") ? "&" : "?"
            let target = scene.target + sign + FaultSecret.query
            var request = DataLoaderRequest(
                url: url(target, scene, server), sourceIdentifier: "matrix")
            for (name, value) in FaultSecret.headers { request.headers[name] = value }
            request.method = HTTPMethod(rawValue: cell.method.rawValue)
            if cell.isPost { request.body = .data(scene.body) }
            request.chunks = !cell.isWhole
            request.maximumRetryCount = 1
            request.timeout = scene.deadline
            request[option: FaultTracer.self] = FaultTracer()
            return request
        }

        private func url(
            _ target: String, _ scene: FaultScene, _ server: LoopbackServer
        ) -> URL {
            let port = scene.port ?? server.port
            return testURL("\(cell.scheme.rawValue)://\(column.host):\(port)\(target)")
        }
    }
#endif
