// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The request of an event stream, with the settings that such a stream needs.
struct EventRequest: Sendable {
    /// The longest ID that is sent, so that a server does not refuse its own IDs.
    private static let maxIDLength = 4_096
    /// The idle limit of a stream; the standard recommends a comment about every 15 seconds.
    private static let idleTimeout = Duration.seconds(300)

    /// The request of the first connection.
    let first: DataLoaderRequest

    /// Sets what the caller has not set.
    init(_ request: DataLoaderRequest, idleTimeout: Duration) {
        var first = request
        if !first.headers.contains("Accept") { first.headers["Accept"] = "text/event-stream" }
        if !first.headers.contains("Cache-Control") { first.headers["Cache-Control"] = "no-store" }
        first.idleTimeout = first.idleTimeout ?? max(Self.idleTimeout, idleTimeout)
        first.slotUse = .stream
        // HTML's event sources send it wherever a redirect leads: without it events would be lost.
        first.fieldsKeptAcrossOrigins.append("Last-Event-ID")
        self.first = first
    }

    /// The ID after which the first connection begins.
    var firstEventID: String { first.headers["Last-Event-ID"] ?? "" }

    /// Whether another connection may send the request, and its body, again.
    var mayBeSentAgain: Bool {
        if case .oneShot = first.body { return false }
        return first.mayBeSentTwice
    }

    /// The request of a connection that begins after an event.
    func next(after id: String, timeout: Duration?) -> DataLoaderRequest {
        var next = first
        next.timeout = timeout
        if id != firstEventID { next.headers["Last-Event-ID"] = Self.mayBeSent(id) ? id : nil }
        return next
    }

    private static func mayBeSent(_ id: String) -> Bool {
        (1...maxIDLength).contains(id.utf8.count) && id.utf8.allSatisfy(\.isFieldValueByte)
    }
}
