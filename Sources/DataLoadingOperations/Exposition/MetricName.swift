// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension MetricFamily {
    /// The name in Prometheus' words, without what the samples of its kind have at their end.
    ///
    /// Dots become underscores, and the unit becomes a word at the end, as OpenTelemetry's rules for
    /// Prometheus say.
    var textName: String {
        var base = name.underscored
        if kind == .info, base.hasSuffix(sampleSuffix) { base.removeLast(sampleSuffix.count) }
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

    /// What the names of samples have after that of their family, in OpenMetrics 1.0.
    var sampleSuffix: String {
        switch kind {
        case .counter: "_total"
        case .info: "_info"
        case .upDownCounter, .gauge, .histogram: ""
        }
    }

    /// OpenMetrics' word for the kind; an up-down counter is a gauge.
    var kindWord: String {
        switch kind {
        case .counter: "counter"
        case .info: "info"
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
