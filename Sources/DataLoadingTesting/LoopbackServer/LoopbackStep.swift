// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading

/// One thing that a server does on a connection; a response is a list of them.
///
/// Bytes of steps that follow each other are sent together; every other step, `.flush` at least,
/// sends what was gathered before it acts. Steps run on the connection's own thread, so a pause or
/// a gate holds no other connection. When the client goes, the steps that are left are not run.
public struct LoopbackStep: Sendable {
    enum Action: Sendable {
        case head(status: Int, reason: String?, headers: HTTPHeaders)
        case content(LoopbackPayload)
        case bytes(LoopbackPayload)
        case chunks(LoopbackPayload, size: Int)
        case lastChunk(trailers: HTTPHeaders)
        case drip(LoopbackPayload, size: Int, interval: Duration)
        case flush
        case pause(Duration)
        case wait(LoopbackGate)
        case awaitConfirmation
        case open(LoopbackGate)
        case readBody(atMost: Int64)
        case drain
        case stall
        case halfClose
        case close
        case reset
    }

    let action: Action
}

extension LoopbackStep {
    /// Sends a status line, the fields and the empty line; use it for 100 and 103 too.
    ///
    /// Nothing is added to the fields. A field `Connection: close` makes the server close the
    /// connection after the response. No reason stands for the usual one, "" for none.
    public static func head(
        _ status: Int, reason: String? = nil, headers: HTTPHeaders = [:]
    ) -> LoopbackStep {
        LoopbackStep(action: .head(status: status, reason: reason, headers: headers))
    }

    /// Sends a body; nothing when the request was a HEAD or the last head was a 1xx, 204 or 304.
    public static func content(_ payload: LoopbackPayload) -> LoopbackStep {
        LoopbackStep(action: .content(payload))
    }

    /// Sends these bytes whatever the request was: the tool for everything malformed.
    public static func bytes(_ payload: LoopbackPayload) -> LoopbackStep {
        LoopbackStep(action: .bytes(payload))
    }

    /// Sends a payload as chunks of the chunked coding, none longer than `size` bytes.
    ///
    /// The last chunk is not sent; like `content` it says nothing where no body may stand.
    public static func chunks(_ payload: LoopbackPayload, of size: Int = 65_536) -> LoopbackStep {
        precondition(size > 0, "A chunk has at least one byte")
        return LoopbackStep(action: .chunks(payload, size: size))
    }

    /// Sends the last chunk and the trailers, which end a chunked body.
    public static func lastChunk(trailers: HTTPHeaders = [:]) -> LoopbackStep {
        LoopbackStep(action: .lastChunk(trailers: trailers))
    }

    /// Sends bytes in small pieces with a pause before each.
    public static func drip(
        _ payload: LoopbackPayload, of size: Int = 1, every interval: Duration
    ) -> LoopbackStep {
        precondition(size > 0, "A piece has at least one byte")
        return LoopbackStep(action: .drip(payload, size: size, interval: interval))
    }

    /// Sends what the steps before it gathered, so that it travels apart from what follows.
    public static let flush = LoopbackStep(action: .flush)
}
