// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Keeps the memory of this process, tokens included, out of core dumps.
enum CoreDumps {
    /// Sets the limit of core files to zero for good; on Linux it also leaves all memory out of what
    /// a crash is piped to.
    ///
    /// A handler that is named by a pipe in `core_pattern`, such as systemd-coredump, gets a dump
    /// whatever the limit is. With an empty filter that dump has registers, and no memory of the
    /// process but the kernel's own page of code. `PR_SET_DUMPABLE` would prevent it altogether, but
    /// `prctl` is variadic, which Swift cannot call, and files below `/proc/self` would become
    /// root's, which metrics are read from.
    ///
    /// - Parameter filter: The file of the filter. Where it is not there, as without `/proc`, only
    ///   the limit is set.
    static func forbid(filter: String = "/proc/self/coredump_filter") {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        #else
            setrlimit(RLIMIT_CORE, &none)
        #endif
        // Not created where it is missing.
        let descriptor = open(filter, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = write(descriptor, "0", 1)
        _ = close(descriptor)
    }
}
