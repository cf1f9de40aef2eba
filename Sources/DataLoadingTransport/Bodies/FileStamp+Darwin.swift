// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    import Foundation

    extension stat {
        /// The time of the last change, by the name that POSIX gives it.
        var st_mtim: timespec { st_mtimespec }
    }
#endif
