// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Why operations could not start.
public enum OperationsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The log's file could not be opened; the path, and the system's words for the reason.
    case log(path: String, reason: String)
    /// The endpoint could not listen; the reason in words.
    case endpoint(reason: String)
    /// It was shut down while it started.
    case shutDown
    /// A variable of the environment or a setting is malformed; its name, and not its value, which
    /// may be a key.
    case malformed(name: String)
    /// It was started, or shut down, before.
    case startedBefore

    /// A sentence for an operator.
    public var description: String {
        switch self {
        case .log(let path, let reason): "the log \(path) cannot be opened: \(reason)"
        case .endpoint(let reason): "the endpoint cannot listen: \(reason)"
        case .shutDown: "operations were shut down while they started"
        case .malformed(let name): "\(name) is malformed"
        case .startedBefore: "operations were started before, and start once"
        }
    }
}
