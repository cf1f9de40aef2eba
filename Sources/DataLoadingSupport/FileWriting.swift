// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Writes all bytes to a file; false when they cannot be written, and `errno` says why.
package func writeAll(_ bytes: Data, to descriptor: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}

/// Writes the name of a file, or that it is gone, to the disk, where the system supports that.
package func synchronizeDirectory(of file: URL) {
    let directory = open(file.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
    guard directory >= 0 else { return }
    _ = fsync(directory)
    closeDescriptor(directory)
}
