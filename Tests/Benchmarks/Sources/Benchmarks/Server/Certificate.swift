// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A certificate for this machine, and the authority that has signed it, made by openssl.
struct Certificate {
    /// The file with the authority, in PEM form.
    let authorities: String
    let chain: String
    let key: String

    init(in directory: URL) throws {
        authorities = directory.appendingPathComponent("authority.pem").path
        chain = directory.appendingPathComponent("server.pem").path
        key = directory.appendingPathComponent("server.key").path
        let authorityKey = directory.appendingPathComponent("authority.key").path
        let fresh = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", "2",
        ]
        try Self.openssl(
            fresh + [
                "-subj", "/CN=Benchmark authority", "-keyout", authorityKey, "-out", authorities,
            ])
        try Self.openssl(
            fresh + [
                "-subj", "/CN=origin.test", "-CA", authorities, "-CAkey", authorityKey,
                "-addext", "basicConstraints=critical,CA:FALSE",
                "-addext", "subjectAltName=DNS:origin.test,IP:127.0.0.1",
                "-keyout", key, "-out", chain,
            ])
    }

    private static func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Complaint("openssl makes no certificate; apt-get install openssl")
        }
    }
}
