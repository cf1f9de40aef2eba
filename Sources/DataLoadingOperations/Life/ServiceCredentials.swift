// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// Reads secrets from the files of a directory, such as the one of systemd's `LoadCredential=`.
///
/// A secret in the environment can be read in `/proc/PID/environ`, and each program that the daemon
/// starts gets it. A file has an owner and a mode, and can be replaced while the daemon runs.
///
/// ```swift
/// let credentials = settings.credentials ?? ServiceCredentials(directory: "/etc/feeds")
/// let authoriser = TokenAuthoriser(hosts: ["api.example.com"]) { _ in
///     AccessToken(try credentials.text("api-token"), lifetime: .seconds(60))
/// }
/// ```
/// The `settings` are an `OperationsConfiguration`. Such an authoriser reads the file again when
/// nine tenths of the lifetime are over, and after a 401. Where a reload on SIGHUP reads it, use a
/// `StaticTokenAuthoriser` and its `replaceToken(_:)`.
///
/// Swift cannot promise to wipe a `String`: once read, a secret may stay in the process's memory.
public struct ServiceCredentials: Sendable {
    /// The maximum size of a credential; systemd's is the same.
    private static let maxSize = 1_048_576

    private let directory: String
    private let checksMode: Bool

    /// Reads files of a directory that others than their owner can neither read nor change.
    ///
    /// With a directory that systemd has made for the service, use
    /// `OperationsConfiguration.credentials`.
    public init(directory: String) {
        self.init(directory: directory, checksMode: true)
    }

    /// systemd gives the service access with an access control list, which a mode does not show.
    init(directory: String, checksMode: Bool) {
        self.directory = directory
        self.checksMode = checksMode
    }

    /// The text of a file of the directory, without the line feed at its end.
    ///
    /// It reads the file each time, which may block for a moment. A symbolic link is followed as
    /// long as it stays in the directory, as those of Kubernetes do.
    ///
    /// - Throws: An error that says what is wrong: with the name; a file that is not there, leads
    ///   out of the directory, is larger than 1 MiB, empty, not UTF-8, or open to others.
    public func text(_ name: String) throws(CredentialFileError) -> String {
        func fault(_ reason: CredentialFileError.Reason) -> CredentialFileError {
            CredentialFileError(name: name, reason: reason)
        }
        guard Self.isFileName(name) else { throw fault(.malformedName) }
        guard let root = Self.resolve(directory), let path = Self.resolve("\(root)/\(name)") else {
            throw fault(.lastSystemError)
        }
        guard path.hasPrefix(root == "/" ? root : root + "/") else {
            throw fault(.outsideDirectory)
        }
        // No link any more, unless it was replaced since. Opening a pipe would block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { throw fault(.lastSystemError) }
        defer { closeDescriptor(descriptor) }
        if let reason = faultOfFile(descriptor) { throw fault(reason) }
        guard var bytes = Self.read(descriptor) else { throw fault(.lastSystemError) }
        guard bytes.count <= Self.maxSize else { throw fault(.tooLarge) }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw fault(.empty) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw fault(.notText) }
        return text
    }

    private func faultOfFile(_ descriptor: Int32) -> CredentialFileError.Reason? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return .lastSystemError }
        guard status.st_mode & S_IFMT == S_IFREG else { return .notAFile }
        if checksMode, status.st_mode & 0o077 != 0 {
            return .openToOthers(mode: UInt32(status.st_mode & 0o7777))
        }
        return status.st_size > Self.maxSize ? .tooLarge : nil
    }

    private static func isFileName(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name.utf8.count <= 255 && !name.contains("..")
            && !name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
    }

    /// The path without links, nil with `errno` when there is no such file.
    private static func resolve(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// What a file has, at most a byte more than the maximum; nil with `errno` after a failure.
    private static func read(_ descriptor: Int32) -> [UInt8]? {
        var (all, piece) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while all.count <= maxSize {
            let count = Foundation.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            all += piece[..<count]
        }
        return all
    }
}

extension CredentialFileError.Reason {
    fileprivate static var lastSystemError: Self {
        .unreadable(reason: String(cString: strerror(errno)))
    }
}
