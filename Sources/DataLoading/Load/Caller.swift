// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Who tells an end something.
///
/// Only a call of the transport may run the owner's code in place: any other may be inside `perform`,
/// or on a thread that other loads wait for.
enum Caller: Sendable {
    case transport
    case other
}

extension AttemptSink {
    /// Who sends its events.
    var caller: Caller {
        // A stored response is played on a queue that all loads share.
        isStored ? .other : .transport
    }
}

extension LoadEvent {
    /// Who has sent the event.
    var caller: Caller {
        switch self {
        case .head(_, let attempt), .bytes(_, let attempt): attempt.caller
        default: .other
        }
    }
}
