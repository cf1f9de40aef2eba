// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension MetricFamily {
    /// The name in Prometheus' words, without what a counter's samples have at their end.
    ///
    /// Dots become underscores, and the unit becomes a word at the end, as OpenTelemetry's rules for
    /// Prometheus say.
    var textName: String {
        let base = name.underscored
        guard let word = unitWord, !base.hasSuffix("_" + word) else { return base }
        return base + "_" + word
    }

    /// The unit as a word; nil for a number of things, which are named in braces.
    var unitWord: String? {
        switch unit {
        case "s": "seconds"
        case "By": "bytes"
        case let rate where rate.hasPrefix("{") && rate.hasSuffix("}/s"): "per_second"
        default: nil
        }
    }

    /// The word for the kind; both formats call an up-down counter a gauge.
    var kindWord: String {
        switch kind {
        case .counter: "counter"
        case .upDownCounter, .gauge: "gauge"
        case .histogram: "histogram"
        }
    }
}

extension String {
    /// The name with underscores for its dots.
    var underscored: String {
        let bytes = utf8.map { $0 == UInt8(ascii: ".") ? UInt8(ascii: "_") : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
