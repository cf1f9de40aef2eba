// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A system call that failed, and its error number.
package struct SocketError: Error, Hashable {
    /// The call that failed, such as "bind".
    package let operation: String
    /// The value of `errno` after it; 0 when an address could not be parsed.
    package let code: Int32

    package init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }
}
