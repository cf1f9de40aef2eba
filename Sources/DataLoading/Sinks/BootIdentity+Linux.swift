// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation

    /// The time between two starts of the machine.
    enum BootIdentity {
        /// A text that differs after each start; nil where the system does not tell, as without
        /// `/proc`.
        static let current = try? String(
            contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8
        ).trimmingCharacters(in: .whitespacesAndNewlines)
    }
#endif
