// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// An error at the start of a loopback server: the failed system call and its error number.
public struct LoopbackServerError: Error, Hashable, Sendable {
    /// The call that failed, such as "bind".
    public let operation: String
    /// The value of `errno` after it; 0 when an address could not be parsed.
    public let code: Int32
}

extension LoopbackServerError: CustomStringConvertible, LocalizedError {
    /// The call and the text of its error number.
    public var description: String {
        code == 0
            ? "\(operation) failed" : "\(operation) failed: \(String(cString: strerror(code)))"
    }

    /// The description.
    public var errorDescription: String? { description }
}
