// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The variables by which systemd lets a process speak for its service.
enum ServiceVariables {
    private static let names = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

    /// Removes those that were read from the environment of the process, so that programs that it
    /// starts do not have them (sd_notify(3), `unset_environment`).
    ///
    /// A thread that looks for another variable at the same moment may miss it.
    static func remove(_ read: [String: String]) {
        for name in names where read[name] != nil { unsetenv(name) }
    }
}
