// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Why a loopback server could not start: the system call that failed and its error number.
public struct LoopbackServerError: Error, Hashable, Sendable {
    /// The call that failed, such as "bind".
    public let operation: String
    /// The value of `errno` after it; 0 when an address could not be read.
    public let code: Int32
}
