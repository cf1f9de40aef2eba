// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

extension DiskDirectory {
    /// Opens the directory of a cache, and makes it if it is not there.
    ///
    /// Another user who may write to it could put responses there, so such a directory is refused.
    /// Its mode becomes 0700.
    ///
    /// - Throws: `.invalidConfiguration` when it cannot be made, is another user's, or others may
    ///   write to it. The underlying error is that of the system.
    convenience init(at url: URL, _ faults: DiskFaults?) throws(DataLoaderError) {
        guard url.isFileURL else { throw Self.refusal("its URL is not that of a file") }
        let path = url.path
        if mkdir(path, 0o700) != 0, errno == ENOENT {
            try? FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw Self.failure("cannot be made") }
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { throw Self.failure("cannot be opened") }
        self.init(descriptor: descriptor, faults)
        try checkOwner()
        try checkUse()
    }

    private func checkOwner() throws(DataLoaderError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure("cannot be read") }
        guard status.st_uid == geteuid() else { throw Self.refusal("another user owns it") }
        guard status.st_mode & 0o022 == 0 else { throw Self.refusal("others may write to it") }
        guard status.st_mode & 0o777 != 0o700, fchmod(descriptor, 0o700) != 0 else { return }
        throw Self.failure("cannot be protected")
    }

    /// Makes the folder of the entries.
    ///
    /// A disk that is full or read-only now may have entries, and may take more later.
    private func checkUse() throws(DataLoaderError) {
        do throws(DiskFailure) {
            try makeFolder(Self.entries)
        } catch {
            guard [ENOSPC, EDQUOT, EROFS].contains(error.code) else {
                throw Self.failure("cannot be written", error)
            }
        }
    }

    private static func refusal(_ why: String) -> DataLoaderError {
        .invalidConfiguration(reason: "the directory of the cache: \(why)")
    }

    /// The error of a system call, without the path.
    private static func failure(
        _ what: String, _ failure: DiskFailure = DiskFailure()
    ) -> DataLoaderError {
        let cause = POSIXErrorCode(rawValue: failure.code).map { POSIXError($0) }
        guard !failure.isOfProcess else {
            return DataLoaderError(.resources(reason: failure.words), underlyingError: cause)
        }
        return DataLoaderError(
            .invalidConfiguration(
                reason: "the directory of the cache \(what): \(failure.words)"),
            underlyingError: cause)
    }
}
