// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A package whose program makes one GET, in a directory of its own.
struct ClientPackage {
    /// What a clean release build took, and the program that it made, in bytes.
    struct Build {
        let seconds: Double
        let processorTime: Double
        let size: Double
        let strippedSize: Double
    }

    let contestant: Contestant
    let dependency: String
    let product: String
    let source: String
    private var directory: URL {
        FileManager.default.temporaryDirectory.appendingPathComponent(
            "client-\(contestant.rawValue)-\(ProcessInfo.processInfo.processIdentifier)")
    }

    static let all = [
        ClientPackage(
            contestant: .dataLoading,
            dependency: ".package(name: \"DataLoading\", path: \"\(repository)\")",
            product: ".product(name: \"DataLoading\", package: \"DataLoading\")",
            source: """
                import DataLoading
                import Foundation

                let loader = DataLoaderService().makeFactory().makeDataLoader()
                guard let url = URL(string: CommandLine.arguments[1]) else { exit(1) }
                print(try await loader.response(for: DataLoaderRequest(url: url)))

                """),
        ClientPackage(
            contestant: .asyncHTTPClient,
            dependency:
                ".package(url: \"https://github.com/swift-server/async-http-client\", from: \"1.37.0\")",
            product: ".product(name: \"AsyncHTTPClient\", package: \"async-http-client\")",
            source: """
                import AsyncHTTPClient

                let request = HTTPClientRequest(url: CommandLine.arguments[1])
                print(try await HTTPClient.shared.execute(request, timeout: .seconds(30)))

                """),
    ]

    private static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("../../../../..").standardized.path

    /// Writes the package, and fetches what it depends on.
    func write() throws {
        let sources = directory.appendingPathComponent("Sources/Client")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "Client", platforms: [.macOS(.v13)], dependencies: [\(dependency)],
                targets: [.executableTarget(name: "Client", dependencies: [\(product)])])

            """
        try Data(manifest.utf8).write(to: directory.appendingPathComponent("Package.swift"))
        try Data(source.utf8).write(to: sources.appendingPathComponent("main.swift"))
        try run("swift", "package", "resolve")
    }

    /// Builds it from nothing.
    func build() throws -> Build {
        try run("swift", "package", "clean")
        let (before, start) = (Usage.processorTimeOfChildren, ContinuousClock.now)
        try run("swift", "build", "-c", "release")
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let processorTime = Usage.processorTimeOfChildren - before
        try run("cp", ".build/release/Client", "stripped")
        try run("strip", "stripped")
        return Build(
            seconds: seconds, processorTime: processorTime, size: try size(".build/release/Client"),
            strippedSize: try size("stripped"))
    }

    func remove() {
        try? FileManager.default.removeItem(at: directory)
    }

    private func size(_ path: String) throws -> Double {
        let file = directory.appendingPathComponent(path).resolvingSymlinksInPath()
        return Double(try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
    }

    private func run(_ command: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.currentDirectoryURL = directory
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Complaint("\(command.joined(separator: " ")) failed in \(directory.path)")
        }
    }
}
