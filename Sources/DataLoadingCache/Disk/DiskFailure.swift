// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Why a call of the system failed: its `errno`.
struct DiskFailure: Error, Hashable, Sendable {
    let code: Int32

    init(_ code: Int32 = errno) {
        self.code = code
    }

    /// Whether there was no such file.
    var isMissing: Bool { code == ENOENT }

    /// Whether the process has no descriptor left, which says nothing about the disk.
    var isOfProcess: Bool { code == EMFILE || code == ENFILE || code == ENOMEM }

    var words: String { String(cString: strerror(code)) }
}

/// Makes calls of the system fail, for tests of full and broken disks and of killed processes.
struct DiskFaults: Sendable {
    enum Call: Hashable, Sendable {
        case open, read, list, create, write, rename, remove, status, note
    }

    enum Fault: Sendable {
        case fails(Int32)
        /// Writes this many bytes and then fails.
        case breaks(afterBytes: Int, Int32)
    }

    let fault: @Sendable (Call) -> Fault?

    /// Throws the fault of a call that is not one of writing.
    func check(_ call: Call) throws(DiskFailure) {
        switch fault(call) {
        case .fails(let code), .breaks(_, let code): throw DiskFailure(code)
        case nil: break
        }
    }
}
