// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading

/// One action of a server on a connection; a response is a list of them.
///
/// Bytes of consecutive steps are sent together. Every other step, `.flush` at least, first sends
/// what was gathered. Steps run on the connection's own thread, so a pause or a gate holds no other
/// connection. When the client resets it, the remaining steps are skipped.
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
    /// The fields are sent unchanged. A field `Connection: close` makes the server close the
    /// connection after the response. A nil reason means the usual one, "" means none.
    public static func head(
        _ status: Int, reason: String? = nil, headers: HTTPHeaders = [:]
    ) -> LoopbackStep {
        LoopbackStep(action: .head(status: status, reason: reason, headers: headers))
    }

    /// Sends a body; nothing when the request was a HEAD or the last head was a 1xx, 204 or 304.
    public static func content(_ payload: LoopbackPayload) -> LoopbackStep {
        LoopbackStep(action: .content(payload))
    }

    /// Sends these bytes for every request, also where no body may follow.
    ///
    /// Use it for malformed responses.
    public static func bytes(_ payload: LoopbackPayload) -> LoopbackStep {
        LoopbackStep(action: .bytes(payload))
    }

    /// Sends a payload as chunks of the chunked coding, each at most `size` bytes.
    ///
    /// The last chunk is not sent. Like `content` it sends nothing where no body may follow.
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

    /// Sends the gathered bytes, separately from those of later steps.
    public static let flush = LoopbackStep(action: .flush)
}
