// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An nginx with one worker on a free loopback port that serves one static body.
final class NginxServer {
    /// The URL of the body.
    let url: String
    private let process: Process
    private let directory: URL

    /// Starts nginx and returns once it answers; the body is `line` again and again.
    init(bodySize: Int, line: String = "x") throws {
        guard let program = Self.find() else {
            throw Complaint("nginx is missing: apt-get install nginx")
        }
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("benchmark-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true)
        let port = try LoopbackPort.free()
        url = "http://127.0.0.1:\(port)/body"
        try Self.write(bodySize, of: line, to: directory.appendingPathComponent("body"))
        let file = directory.appendingPathComponent("nginx.conf")
        try Data(Self.configuration(port: port, directory: directory.path).utf8).write(to: file)
        process = Process()
        process.executableURL = program
        process.arguments = ["-p", directory.path, "-c", file.path]
        process.standardError = FileHandle.nullDevice
        try process.run()
        guard LoopbackPort.accepts(port, within: .seconds(5)) else {
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

    private static func configuration(port: UInt16, directory: String) -> String {
        // A worker started by root drops its rights and could not read the body.
        let user = getuid() == 0 ? "user root;" : ""
        return """
            \(user)
            daemon off;
            worker_processes 1;
            pid \(directory)/pid;
            error_log \(directory)/error.log crit;
            events { worker_connections 4096; }
            http {
                access_log off;
                client_body_temp_path \(directory)/client;
                proxy_temp_path \(directory)/proxy;
                fastcgi_temp_path \(directory)/fastcgi;
                uwsgi_temp_path \(directory)/uwsgi;
                scgi_temp_path \(directory)/scgi;
                keepalive_requests 1000000000;
                keepalive_timeout 600s;
                open_file_cache max=16;
                server {
                    listen 127.0.0.1:\(port) backlog=4096;
                    root \(directory);
                }
            }
            """
    }
}
