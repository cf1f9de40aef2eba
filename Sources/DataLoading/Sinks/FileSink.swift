// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes a file beside its final place and puts it there when it is whole.
struct FileSink: BodySink {
    private let destination: URL
    private let synchronizes: Bool
    private let mode: mode_t
    private let unfinished: URL?
    private var written: Written?

    private struct Written {
        let descriptor: Int32
        let path: String
    }

    /// Makes a sink; `mode` says who may use the file, as far as the process' mask lets them.
    ///
    /// Until it is whole it is `writtenAs`, which nobody else may use, or a file beside it.
    init(
        _ destination: URL, synchronizes: Bool, mode: mode_t = 0o666, writtenAs: URL? = nil
    ) {
        unfinished = writtenAs
        self.destination = destination
        self.synchronizes = synchronizes
        self.mode = mode
    }

    mutating func begin() throws(DataLoaderError) {
        guard let written else { return written = try create() }
        guard ftruncate(written.descriptor, 0) == 0, lseek(written.descriptor, 0, SEEK_SET) == 0
        else { throw Self.failure("the file cannot be written") }
    }

    func write(_ bytes: Data) throws(DataLoaderError) {
        guard let written else { throw .responseSink(reason: "no response has begun") }
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                Foundation.write(written.descriptor, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("the file cannot be written") }
            rest = rest.dropFirst(count)
        }
    }

    mutating func commit() throws(DataLoaderError) {
        guard let written else { throw .responseSink(reason: "no response has begun") }
        if synchronizes, fsync(written.descriptor) != 0 {
            throw Self.failure("the file cannot be written")
        }
        self.written = nil
        // Keeps the lock until the file has its name.
        let copy = fcntl(written.descriptor, F_DUPFD_CLOEXEC, 0)
        defer { if copy >= 0 { _ = Foundation.close(copy) } }
        // Some file systems say only now that there is no space.
        guard Foundation.close(written.descriptor) == 0 else {
            defer { unlink(written.path) }
            throw Self.failure("the file cannot be written")
        }
        guard rename(written.path, destination.path) == 0 else {
            defer { unlink(written.path) }
            throw Self.failure("the file cannot be put in its place")
        }
        if synchronizes { synchronizeDirectory() }
    }

    mutating func discard() {
        guard let written else { return }
        self.written = nil
        unlink(written.path)
        _ = Foundation.close(written.descriptor)
    }

    private func create() throws(DataLoaderError) -> Written {
        guard destination.isFileURL else { throw .responseSink(reason: "not the URL of a file") }
        if let unfinished {
            let path = unfinished.path
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
            guard descriptor >= 0 else { throw Self.failure("the file cannot be made") }
            return Written(descriptor: descriptor, path: path)
        }
        let directory = destination.deletingLastPathComponent()
        guard let file = UnfinishedFiles.make(in: directory, mode: mode) else {
            throw Self.failure("the file cannot be made")
        }
        return Written(descriptor: file.descriptor, path: file.path)
    }

    /// The new name is on the disk too, as far as the system can say.
    private func synchronizeDirectory() {
        let descriptor = open(destination.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        _ = Foundation.close(descriptor)
    }

    /// What the last call of the system failed for, without the path.
    private static func failure(_ what: String) -> DataLoaderError {
        let code = errno
        guard code != EMFILE, code != ENFILE else { return .resources(reason: "file descriptors") }
        return .responseSink(reason: "\(what): \(String(cString: strerror(code)))")
    }
}
