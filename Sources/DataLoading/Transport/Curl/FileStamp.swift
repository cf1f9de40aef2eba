// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import Foundation

    /// What tells whether a file is still the one that it was: its place, length and last change.
    struct FileStamp: Equatable {
        /// Bytes in all; nil for what has no length, such as a pipe.
        let length: Int64?
        private let device: UInt64
        private let node: UInt64
        private let changed: Int64
        private let changedNanoseconds: Int64

        /// Looks at a file that is open.
        init(of descriptor: Int32) throws(DataLoaderError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else {
                throw Self.failure("the file cannot be read")
            }
            try self.init(status)
        }

        /// Looks at a file that will be read later.
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
            device = UInt64(status.st_dev)
            node = UInt64(status.st_ino)
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

        /// What the last call of the system failed for; the path is the caller's secret.
        static func failure(_ what: String) -> DataLoaderError {
            let code = errno
            guard code != EMFILE, code != ENFILE else {
                return .resources(reason: "file descriptors")
            }
            return .requestBody(reason: "\(what): \(String(cString: strerror(code)))")
        }
    }
#endif
