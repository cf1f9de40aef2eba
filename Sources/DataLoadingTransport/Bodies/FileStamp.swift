// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A file's identity, length and last change, to detect that it was replaced or changed.
struct FileStamp: Equatable {
    /// The length in bytes; nil for a file without a length, such as a pipe.
    let length: Int64?
    private let device: UInt64
    private let node: UInt64
    private let changed: Int64
    private let changedNanoseconds: Int64

    /// Reads the stamp of an open file.
    init(of descriptor: Int32) throws(DataLoaderError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw Self.failure("the file cannot be read")
        }
        try self.init(status)
    }

    /// Reads the stamp of a file that will be opened later.
    init(at file: URL) throws(DataLoaderError) {
        guard file.isFileURL else { throw .requestBody(reason: "not the URL of a file") }
        var status = stat()
        guard stat(file.path, &status) == 0, access(file.path, R_OK) == 0 else {
            throw Self.failure("the file cannot be opened")
        }
        try self.init(status)
    }

    private init(_ status: stat) throws(DataLoaderError) {
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw .requestBody(reason: "the file is a directory")
        }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        node = UInt64(truncatingIfNeeded: status.st_ino)
        guard status.st_mode & S_IFMT == S_IFREG else {
            // Reading a pipe changes its times.
            length = nil
            changed = 0
            changedNanoseconds = 0
            return
        }
        length = Int64(status.st_size)
        changed = Int64(status.st_mtim.tv_sec)
        changedNanoseconds = Int64(status.st_mtim.tv_nsec)
    }

    /// Returns the error of the last system call, without the file's path, which may be
    /// confidential.
    static func failure(_ what: String) -> DataLoaderError {
        let code = errno
        let cause = POSIXErrorCode(rawValue: code).map { POSIXError($0) }
        guard code != EMFILE, code != ENFILE else {
            return DataLoaderError(
                .resources(reason: "file descriptors"), underlyingError: cause)
        }
        let reason = "\(what): \(String(cString: strerror(code)))"
        return DataLoaderError(.requestBody(reason: reason), underlyingError: cause)
    }
}
