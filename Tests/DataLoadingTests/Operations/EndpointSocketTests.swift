// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

extension SocketTests {
    /// The endpoint on a Unix-domain socket.
    @Suite struct EndpointSocketTests {
        private let directory = TemporaryDirectory()
        private var path: String { directory.url("operations.sock").path }

        private func start(mode: UInt32 = 0o600) throws -> Operations {
            var settings = OperationsConfiguration(environment: [:])
            settings.endpoint = .unixSocket(path, mode: mode)
            var configuration = DataLoaderService.Configuration()
            configuration.transport = ScriptedTransport(otherwise: .respond(status: 200))
            let operations = Operations(settings, instrumenting: &configuration)
            try operations.start(for: DataLoaderService(configuration: configuration))
            return operations
        }

        private func status() async throws -> HTTPStatus? {
            let configuration = DataLoaderService.Configuration()
            configuration.resolver.setAddresses(["unix:" + path], forHost: "localhost")
            let loader = DataLoaderService(configuration: configuration).makeFactory()
                .makeDataLoader()
            return try await loader.response(
                for: DataLoaderRequest(url: testURL("http://localhost/snapshot"))
            ).statusCode
        }

        @Test func `its mode says who may open it, and no token is needed`() async throws {
            let operations = try start(mode: 0o640)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o640)
            #expect(try await status() == .ok)
            #expect(operations.endpointURL == nil)
            await operations.shutDown(gracePeriod: .zero)
            #expect(!FileManager.default.fileExists(atPath: path))
        }

        @Test func `a socket that a killed process left is replaced`() async throws {
            var place = LoopbackServer.Configuration()
            place.unixSocket = path
            let left = try LoopbackServer(place) { _ in .ok("") }
            left.goDown()
            #expect(FileManager.default.fileExists(atPath: path))
            let operations = try start()
            #expect(try await status() == .ok)
            await operations.shutDown(gracePeriod: .zero)
        }

        @Test func `a process that ends leaves the socket of the next one`() async throws {
            let first = try start()
            try FileManager.default.removeItem(atPath: path)
            let second = try start()
            await first.shutDown(gracePeriod: .zero)
            #expect(try await status() == .ok)
            await second.shutDown(gracePeriod: .zero)
            #expect(!FileManager.default.fileExists(atPath: path))
        }

        @Test func `a socket that is in use is not taken, nor a file`() async throws {
            let first = try start()
            let reason = "\(path): bind: Address already in use"
            #expect(throws: OperationsError.endpoint(reason: reason)) {
                _ = try start()
            }
            #expect(try await status() == .ok)
            await first.shutDown(gracePeriod: .zero)
            try directory.write(Data("mine".utf8), to: "operations.sock")
            #expect(throws: OperationsError.self) { _ = try start() }
            #expect(FileManager.default.contents(atPath: path) == Data("mine".utf8))
        }
    }
}
