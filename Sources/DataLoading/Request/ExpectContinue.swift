// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Whether the server is asked before a large body is sent, by `Expect: 100-continue`; default true.
///
/// ```swift
/// request[option: ExpectContinue.self] = false
/// ```
/// Bodies of 1 MiB or more, and those of unknown length, are held back until the server says that it
/// wants them, or for 1 s. A server that answers with a final status instead, such as 401, 413 or a
/// redirect, is sent nothing of the body. One round trip is little beside such a body, and much
/// beside a smaller one: curl draws the line at the same place.
///
/// A 417 says that somebody on the way does not know the question. Its status is delivered,
/// perhaps without its body; requests to that server have to switch the question off.
public enum ExpectContinue: RequestOption, Sendable {
    /// Large bodies are asked for.
    public static let defaultValue = true
    /// False: it holds wherever the load is led.
    public static var staysWithOrigin: Bool { false }
    /// From how many bytes on a body is large: 1 MiB.
    package static let threshold: Int64 = 1_048_576
}
