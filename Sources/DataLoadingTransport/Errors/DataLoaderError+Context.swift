// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import Foundation

extension DataLoaderError {
    /// The load that an error ended, with its attempts and its time.
    ///
    /// It holds nothing that a log may not show.
    public struct Context: Hashable, Sendable {
        /// The number of the load, as in `LoadMetrics.load`; nil for a load that never started.
        public let load: Int64?
        /// The method of the request; empty when it is not a token.
        public let method: String
        /// The URL of the request, without user information, the query and the fragment.
        public let url: String
        /// The number of attempts.
        public let attempts: Int
        /// The number of attempts that were retries.
        public let retries: Int
        /// The time from `perform` to the outcome.
        public let time: Duration
        /// The number of retries that were not made, because other loads could not connect to the
        /// server just then.
        package var sparedRetries = 0

        /// Makes the context of a load.
        package init(
            load: Int64?, method: HTTPMethod, url: URL, attempts: Int, retries: Int,
            time: Duration
        ) {
            self.load = load
            self.method = method.tokenText
            self.url = url.redactedText
            self.attempts = attempts
            self.retries = retries
            self.time = time
        }

        /// The method and the URL.
        var request: String { method.isEmpty ? url : "\(method) \(url)" }
    }

    /// The maximum number of bytes that an error keeps of a body.
    private static let maxBody = 65_536

    /// Forgets the body, for who keeps errors.
    package mutating func dropBody() { note { $0.body = nil } }

    /// Keeps the body of a response whose status is an error, or that cannot be decoded.
    package mutating func keepBody(_ body: Data?) {
        switch kind {
        case .status, .undecodable: break
        default: return
        }
        guard let body, !body.isEmpty else { return }
        // A prefix that is no copy would keep the whole body in memory.
        let kept =
            body.count <= Self.maxBody
            ? body : body.prefix(Self.maxBody).withUnsafeBytes { Data($0) }
        note { $0.body = kept }
    }

    /// The error with the reason for making no further attempt; an earlier reason is kept.
    package func stopped(by reason: StopReason?) -> Self {
        guard let reason, stopReason == nil else { return self }
        var error = self
        error.note { $0.stopReason = reason }
        return error
    }

    /// The error with the phase in which it occurred; an earlier phase is kept.
    package func occurring(_ phase: Phase?) -> Self {
        guard let phase, self.phase == nil else { return self }
        var error = self
        error.note { $0.phase = phase }
        return error
    }
}

extension HTTPMethod {
    /// The method, if a log may show it.
    fileprivate var tokenText: String {
        !rawValue.isEmpty && rawValue.utf8.allSatisfy(\.isTokenCharacter) ? rawValue : ""
    }
}
