// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSockets
public import Foundation

/// An error at the start of a loopback server: the failed system call and its error number.
public struct LoopbackServerError: Error, Hashable, Sendable {
    /// The call that failed, such as "bind".
    public let operation: String
    /// The value of `errno` after it; 0 when an address could not be parsed.
    public let code: Int32

    /// Runs `body`, and throws its error of a socket as one of this type.
    static func rethrowing<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SocketError {
            throw LoopbackServerError(operation: error.operation, code: error.code)
        }
    }
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
