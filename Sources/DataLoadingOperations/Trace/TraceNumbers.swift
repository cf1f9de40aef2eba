// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Makes the numbers of a load's trace and span from the number of the load.
///
/// The attempts of a load begin at different times, and the end of the load is told elsewhere. That
/// all of them agree on a trace and on the load's span needs no table, which would have to be
/// bounded and would forget: the numbers are those of SplitMix64, from secret starts, at the place of
/// the load. They look random, and no two loads of a process have the same.
struct TraceNumbers: Sendable {
    private let high: UInt64
    private let low: UInt64
    private let span: UInt64

    /// Chooses the starts.
    init(using generator: inout some RandomNumberGenerator) {
        high = generator.next()
        low = generator.next()
        span = generator.next()
    }

    /// The trace that a load begins, with the load's span; `ratio` of all traces are sampled.
    func root(ofLoad load: Int64, ratio: Double) -> TraceContext {
        let low = Self.number(at: load, from: low)
        // The last 56 bits decide, as OpenTelemetry's samplers do that agree with each other.
        let isSampled = ratio > 0 && Double(low & 0xFF_FFFF_FFFF_FFFF) >= (1 - ratio) * 0x1p56
        return TraceContext.makeRoot(
            high: Self.number(at: load, from: high), low: low, span: spanID(ofLoad: load),
            isSampled: isSampled)
    }

    /// The number of a load's span.
    func spanID(ofLoad load: Int64) -> UInt64 { Self.number(at: load, from: span) }

    /// A number of SplitMix64, never zero.
    private static func number(at place: Int64, from start: UInt64) -> UInt64 {
        var mixed = start &+ UInt64(bitPattern: place) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return max(1, mixed ^ mixed >> 31)
    }
}
