// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// An open file, which is closed with this object; each call may block.
///
/// Its content stays what it is when another file takes its name.
final class OpenFile: Sendable {
    let descriptor: Int32
    private let faults: DiskFaults?

    init(_ descriptor: Int32, _ faults: DiskFaults?) {
        self.descriptor = descriptor
        self.faults = faults
    }

    deinit {
        closeDescriptor(descriptor)
    }

    func status() throws(DiskFailure) -> stat {
        try faults?.check(.status)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw DiskFailure() }
        return status
    }

    /// Reads exactly this many bytes; fails with EIO when the file has become shorter.
    func read(at offset: Int, count: Int) throws(DiskFailure) -> Data {
        try faults?.check(.read)
        var bytes = Data(count: count)
        var position = 0
        while position < count {
            let taken = bytes.withUnsafeMutableBytes { buffer in
                pread(
                    descriptor, buffer.baseAddress.map { $0 + position }, count - position,
                    off_t(offset + position))
            }
            if taken < 0, errno == EINTR { continue }
            guard taken > 0 else { throw DiskFailure(taken == 0 ? EIO : errno) }
            position += taken
        }
        return bytes
    }

    func write(_ bytes: some ContiguousBytes) throws(DiskFailure) {
        var limit = Int.max
        var code: Int32 = 0
        switch faults?.fault(.write) {
        case .fails(let failure): throw DiskFailure(failure)
        case .breaks(let count, let failure): (limit, code) = (count, failure)
        case nil: break
        }
        let failure = bytes.withUnsafeBytes { buffer -> DiskFailure? in
            var position = 0
            while position < min(buffer.count, limit) {
                let count = Foundation.write(
                    descriptor, buffer.baseAddress.map { $0 + position },
                    min(buffer.count, limit) - position)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return DiskFailure(count == 0 ? EIO : errno) }
                position += count
            }
            return position < buffer.count ? DiskFailure(code) : nil
        }
        if let failure { throw failure }
    }
}
