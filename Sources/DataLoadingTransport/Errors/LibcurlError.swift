// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A result of libcurl, with its text.
///
/// It is the `underlyingError` of a `DataLoaderError` that `CurlTransport` caused.
public struct LibcurlError: Error, Hashable, Sendable {
    /// The number of the result, a `CURLcode`.
    public let code: Int32
    /// The text of libcurl or its TLS library; may be empty.
    public let message: String

    /// Makes an error from a result.
    package init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }
}

extension LibcurlError: CustomStringConvertible, LocalizedError {
    /// The number and the text.
    public var description: String {
        message.isEmpty ? "libcurl result \(code)" : "libcurl result \(code): \(message)"
    }

    /// The description.
    public var errorDescription: String? { description }
}
