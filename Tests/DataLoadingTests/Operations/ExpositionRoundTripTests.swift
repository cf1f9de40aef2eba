// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import DataLoadingTesting
import Testing

@Suite struct ExpositionRoundTripTests {
    @Test(arguments: ExpositionFormat.allCases)
    func `any text comes back out of a label as it went in, cut at 256 characters`(
        _ format: ExpositionFormat
    ) {
        let names = MetricRegistry.make().names
        property { generator in
            let texts = [RandomLabel.next(&generator), RandomLabel.next(&generator)]
            let labels = TargetLabels(
                serviceName: texts[0], serviceVersion: nil, instance: texts[1])
            let writers = BothWriters(names)
            writers.begin(.targetInformation)
            writers.add(.whole(1), labels)
            let bytes =
                format == .prometheus ? writers.prometheus.bytes : writers.openMetrics.bytes
            let samples = ExpositionParser.samples(of: bytes)
            let expected = texts.map { Array($0.unicodeScalars.prefix(256)) }
            let found = ["service_name", "service_instance_id"].map { name in
                samples.first?.labels[name].map { Array($0.unicodeScalars) }
            }
            return samples.count == 1 && found == expected ? nil : "\(texts) came as \(found)"
        }
    }
}

/// Texts that have what a format might trip over.
enum RandomLabel {
    private static let pieces = [
        "a", "\\", "\"", "\n", "\r", "\r\n", "\t", "{", "}", ",", "=", "#", " ", "\\n", "é",
        "\u{301}",
        "\u{2028}", "\u{85}", "\u{1F469}\u{200D}\u{1F4BB}", "# EOF", "\u{0}", "\u{7F}", "\u{FFFF}",
    ]

    static func next(_ generator: inout SeededGenerator) -> String {
        let isLong = Int.random(in: 0..<50, using: &generator) == 0
        let count = Int.random(in: 1...(isLong ? 400 : 12), using: &generator)
        return (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
    }
}
