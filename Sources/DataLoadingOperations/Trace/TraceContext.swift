// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The place of a request in a distributed trace, as W3C Trace Context defines it.
///
/// ```swift
/// let context =
///     TraceContext(
///         traceparent: incoming["traceparent"] ?? "", tracestate: incoming["tracestate"])
///     ?? TraceContext.makeRoot()
/// print(context.traceparent)  // 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03
/// ```
/// It has the number of the trace, the number of the caller's span, whether the caller records, and
/// what other tracing systems added. It holds no secret, but it tells two servers that two requests
/// belong together.
public struct TraceContext: Hashable, Sendable {
    private let trace: TraceNumber
    private let span: UInt64
    private let flags: TraceFlags
    /// The `tracestate` header to send: what other tracing systems added, in at most 512 characters.
    ///
    /// It is nil when there is none.
    public let tracestate: String?

    private init(
        trace: TraceNumber, span: UInt64, flags: TraceFlags, tracestate: String? = nil
    ) {
        self.trace = trace
        self.span = span
        self.flags = flags
        self.tracestate = tracestate
    }

    /// Reads the headers of a request; nil when `traceparent` is malformed.
    ///
    /// Versions after 00 are read as the specification asks: by the fields of version 00, with more
    /// fields after them. Version ff, and numbers that are all zero, are malformed. Flags other than
    /// "sampled" and "random" are dropped.
    ///
    /// - Parameters:
    ///   - traceparent: The value of the header, exactly.
    ///   - tracestate: The values of all such headers, joined by commas. Members beyond 512
    ///     characters are dropped, whole ones and the last ones first. A value that no header may
    ///     have is dropped too.
    public init?(traceparent: String, tracestate: String? = nil) {
        var reader = HexReader(traceparent)
        guard let version = reader.takeNumber(digits: 2), version != 0xFF, reader.takeDash(),
            let high = reader.takeNumber(digits: 16), let low = reader.takeNumber(digits: 16),
            let trace = TraceNumber(high: high, low: low), reader.takeDash(),
            let span = reader.takeNumber(digits: 16), span != 0, reader.takeDash(),
            let flags = reader.takeNumber(digits: 2),
            reader.isAtEnd || (version > 0 && reader.takeDash())
        else { return nil }
        self.init(
            trace: trace, span: span, flags: TraceFlags(rawValue: flags).intersection(.known),
            tracestate: tracestate.flatMap(TraceState.limited))
    }

    /// Makes the context of a new trace, with random numbers.
    ///
    /// - Parameter isSampled: Whether the spans of the trace are recorded; true by default.
    /// - Returns: A context without a `tracestate`.
    public static func makeRoot(isSampled: Bool = true) -> TraceContext {
        // The system's generator itself is a value without a size, whose address the thread sanitizer
        // of Swift 6.3 reads.
        RandomSource.system.withGenerator { makeRoot(isSampled: isSampled, using: &$0) }
    }

    /// The `traceparent` header to send, in version 00.
    public var traceparent: String {
        // Of the flags only two are known, so that one digit has them.
        "00-\(traceID)-\(span.hexText)-0\(flags.rawValue)"
    }

    /// The number of the trace in hexadecimal digits.
    var traceID: String { trace.high.hexText + trace.low.hexText }

    /// The number of the span in hexadecimal digits.
    var spanID: String { span.hexText }

    /// Whether the caller may have recorded its span.
    public var isSampled: Bool { flags.contains(.sampled) }

    /// Makes the context of a new trace with numbers of a generator.
    static func makeRoot(
        isSampled: Bool, using generator: inout some RandomNumberGenerator
    ) -> TraceContext {
        TraceContext(
            trace: TraceNumber(using: &generator), span: makeSpan(using: &generator),
            flags: isSampled ? [.random, .sampled] : .random)
    }

    /// Makes the context of a new trace with numbers that are not zero and look random.
    static func makeRoot(
        high: UInt64, low: UInt64, span: UInt64, isSampled: Bool
    ) -> TraceContext {
        TraceContext(
            trace: TraceNumber(high: high, nonzeroLow: max(1, low)), span: max(1, span),
            flags: isSampled ? [.random, .sampled] : .random)
    }

    /// Makes the context of a span inside: the same trace, with a number of its own.
    func makeChild(using generator: inout some RandomNumberGenerator) -> TraceContext {
        makeChild(span: Self.makeSpan(using: &generator))
    }

    /// Makes the context of a span inside, whose number is not zero.
    func makeChild(span: UInt64) -> TraceContext {
        TraceContext(trace: trace, span: span, flags: flags, tracestate: tracestate)
    }

    /// The place of a measured value, at the nanoseconds since the Unix epoch; nil unless sampled.
    func sample(at time: Int64) -> Exemplar.Sample? {
        guard isSampled else { return nil }
        return Exemplar.Sample(
            traceHigh: trace.high, traceLow: trace.low, spanID: span, time: time)
    }

    /// A random number of a span, which is never zero.
    private static func makeSpan(using generator: inout some RandomNumberGenerator) -> UInt64 {
        max(1, generator.next())
    }
}

/// The number of a trace: 128 bits, not all of them zero.
private struct TraceNumber: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    init?(high: UInt64, low: UInt64) {
        guard high != 0 || low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    init(high: UInt64, nonzeroLow low: UInt64) {
        self.high = high
        self.low = low
    }

    init(using generator: inout some RandomNumberGenerator) {
        self.init(high: generator.next(), nonzeroLow: max(1, generator.next()))
    }
}

/// The flags of a trace that this version of the specification knows.
private struct TraceFlags: OptionSet, Hashable, Sendable {
    let rawValue: UInt64

    /// The caller may have recorded its span.
    static let sampled = TraceFlags(rawValue: 1)
    /// The last 56 bits of the number of the trace are random (level 2 of the specification).
    static let random = TraceFlags(rawValue: 2)
    static let known: TraceFlags = [.sampled, .random]
}
