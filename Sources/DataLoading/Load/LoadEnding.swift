// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Foundation

/// The end of a load, from its outcome to its report to the observers.
///
/// Until the owner takes the outcome, an end from outside replaces it. Nothing replaces a
/// cancellation.
struct LoadEnding: Sendable {
    private enum Stage: Sendable {
        case untaken, taken, handedOver, reported
    }

    /// The error of the outcome; nil for a success.
    private(set) var error: DataLoaderError?
    /// The date from which the server accepts another request, as the owner was told.
    private(set) var retryAfter: Date?
    private var stage = Stage.untaken

    init(_ error: DataLoaderError?) {
        self.error = error
    }

    /// Whether it is a success that was not taken.
    var isSuccess: Bool { stage == .untaken && error == nil }

    /// Whether the load was reported to the observers.
    var isReported: Bool { stage == .reported }

    /// Whether the outcome was not taken.
    var isUntaken: Bool { stage == .untaken }

    /// Whether the load's own deadline ended it.
    var isTimeout: Bool {
        if case .timedOut = error?.kind { true } else { false }
    }

    /// Replaces an outcome that was not taken; false when it is too late for that.
    mutating func replace(by error: DataLoaderError) -> Bool {
        guard stage == .untaken, self.error != .cancelled else { return false }
        self.error = error
        return true
    }

    /// Takes the outcome; false when it was taken before.
    mutating func take() -> Bool {
        guard stage == .untaken else { return false }
        stage = .taken
        return true
    }

    /// Notes that the owner was told, and of which date.
    mutating func handedOver(_ retryAfter: Date?) {
        guard stage == .taken else { return }
        stage = .handedOver
        self.retryAfter = retryAfter
    }

    /// Marks the load as reported, once, after its outcome was handed over; false otherwise.
    mutating func report() -> Bool {
        guard stage == .handedOver else { return false }
        stage = .reported
        return true
    }
}
