// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import Foundation

    extension stat {
        /// When the content was written last.
        var writtenAt: timespec { st_mtim }
        /// When the file was used last.
        var usedAt: timespec { st_atim }
    }

    extension timespec {
        /// Leaves a time of a file as it is; the header has it as a macro.
        static var unchanged: timespec { timespec(tv_sec: 0, tv_nsec: 0x3FFF_FFFE) }
    }
#endif
