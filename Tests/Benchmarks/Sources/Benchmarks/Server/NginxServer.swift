// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An nginx with one worker on free loopback ports that serves one static body.
final class NginxServer {
    /// The ports, which serve the same.
    let ports: [UInt16]
    /// The URL of the body on the first port.
    let url: String
    /// The URL of a small answer to a POST.
    var postURL: String { origin + "/posted" }
    /// The URL that swallows what is sent to it.
    var uploadURL: String { origin + "/uploaded" }
    /// The file of the body.
    var bodyFile: String { directory.appendingPathComponent("body").path }
    private let origin: String
    /// The file with the authority of its certificate; nil for a server without TLS.
    let authorities: String?
    private let process: Process
    private let directory: URL

    /// Starts nginx and returns once it answers; the body is `line` again and again.
    init(
        bodySize: Int, line: String = "x", isSecure: Bool = false, portCount: Int = 1
    ) throws {
        guard let program = Self.find() else {
            throw Complaint("nginx is missing: apt-get install nginx")
        }
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("benchmark-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true)
        ports = try (0..<portCount).map { _ in try LoopbackPort.free() }
        origin = "\(isSecure ? "https" : "http")://127.0.0.1:\(ports[0])"
        url = origin + "/body"
        let certificate = isSecure ? try Certificate(in: directory) : nil
        authorities = certificate?.authorities
        try Self.write(bodySize, of: line, to: directory.appendingPathComponent("body"))
        let file = directory.appendingPathComponent("nginx.conf")
        let configuration = NginxConfiguration(
            ports: ports, directory: directory.path, certificate: certificate,
            isLarge: bodySize >= 1_048_576)
        try Data(configuration.text.utf8).write(to: file)
        process = Process()
        process.executableURL = program
        process.arguments = ["-p", directory.path, "-c", file.path]
        process.standardError = FileHandle.nullDevice
        try process.run()
        guard LoopbackPort.accepts(ports[0], within: .seconds(5)) else {
            stop()
            throw Complaint("nginx does not start; is \(program.path) whole?")
        }
    }

    /// Stops nginx and removes its files.
    func stop() {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Writes a file piece by piece, as it may be large.
    private static func write(_ size: Int, of line: String, to url: URL) throws {
        let piece = Data(String(repeating: line, count: max(1, 1_048_576 / line.utf8.count)).utf8)
        try Data().write(to: url)
        let file = try FileHandle(forWritingTo: url)
        defer { try? file.close() }
        var left = size
        while left > 0 {
            try file.write(contentsOf: piece.prefix(left))
            left -= min(left, piece.count)
        }
    }

    private static func find() -> URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin", "/usr/local/sbin"])
            .map { URL(fileURLWithPath: $0).appendingPathComponent("nginx") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
