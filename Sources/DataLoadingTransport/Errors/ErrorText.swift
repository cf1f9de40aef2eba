// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The words of an error's description, without the request.
package struct ErrorText {
    private let error: DataLoaderError

    package init(_ error: DataLoaderError) {
        self.error = error
    }

    /// The kind with its cause, and what is known of the load in brackets.
    package var text: String {
        let facts = facts.joined(separator: ", ")
        return facts.isEmpty ? what : "\(what) (\(facts))"
    }

    /// The kind, with the text of libcurl where the kind has no reason of its own.
    private var what: String {
        let kind = error.kind.description
        guard let cause = error.underlyingError as? LibcurlError, !cause.message.isEmpty,
            !kind.contains(cause.message)
        else { return kind }
        return "\(kind): \(cause.message)"
    }

    private var facts: [String] {
        var facts: [String] = []
        let context = error.context
        if let load = context?.load { facts.append("load \(load)") }
        if let phase = error.phase { facts.append(phase.description) }
        if let context { facts.append(Self.attempts(context)) }
        if let reason = error.stopReason {
            facts.append("not tried again: \(Self.text(reason, context))")
        }
        return facts
    }

    private static func attempts(_ context: DataLoaderError.Context) -> String {
        let count =
            switch context.attempts {
            case 0: "no attempt"
            case 1: "1 attempt"
            default: "\(context.attempts) attempts"
            }
        return "\(count) in \(context.time.shortText)"
    }

    private static func text(
        _ reason: DataLoaderError.StopReason, _ context: DataLoaderError.Context?
    ) -> String {
        guard reason == .retriesUsedUp, let context else { return reason.description }
        if context.sparedRetries > 0 {
            return "\(context.sparedRetries) of \(context.retries + context.sparedRetries) retries "
                + "spared, because other loads could not connect"
        }
        return switch context.retries {
        // The attempts may be those of another load, whose request this one shared.
        case 0 where context.attempts == 0: reason.description
        case 0: "no retry was allowed"
        case 1: "the one retry was made"
        default: "all \(context.retries) retries were made"
        }
    }
}
