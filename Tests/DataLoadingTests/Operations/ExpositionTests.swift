// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import Foundation
import Testing

@Suite struct ExpositionTests {
    private static let registry = MetricRegistry.make()

    /// The same numbers in both formats.
    private static var texts: (prometheus: String, openMetrics: String) {
        let writers = BothWriters(registry.names)
        let host = registry.hosts.label(forURL: "https://api.test/")
        var cell = HistogramCell(bounds: [500_000_000, 1_000_000_000, 10_000_000_000])
        cell.add(nanoseconds: 250_000_000)
        cell.add(
            nanoseconds: 1_500_000_001,
            Exemplar.Sample(
                traceHigh: 0x0AF7_6519_16CD_43DD, traceLow: 0x8448_EB21_1C80_319C, spanID: 0xB7AD,
                time: 1_700_000_000_250_000_000))
        writers.begin(.requestDuration)
        writers.add(cell, AttemptLabels.make(host, 503))
        writers.begin(.retries)
        writers.add(.whole(7), RetryLabels(host: host, error: ErrorLabel(DataLoaderError.dns)))
        writers.add(.whole(2), OverflowLabels())
        writers.begin(.residentMemory)
        writers.add(.whole(1_048_576), NoLabels())
        writers.begin(.targetInformation)
        writers.add(
            .whole(1),
            TargetLabels(serviceName: "a\"b\\c\nd", serviceVersion: nil, instance: "é"))
        return writers.texts
    }

    private static let labels =
        "http_request_method=\"GET\",server_address=\"api.test\",server_port=\"443\","
        + "http_response_status_code=\"503\",error_type=\"503\",network_protocol_version=\"1.1\""

    @Test func `Prometheus' text 0.0.4 is written byte by byte as expected`() {
        #expect(
            Self.texts.prometheus == """
                # HELP http_client_request_duration_seconds \(MetricFamily.requestDuration.help)
                # TYPE http_client_request_duration_seconds histogram
                http_client_request_duration_seconds_bucket{\(Self.labels),le="0.5"} 1
                http_client_request_duration_seconds_bucket{\(Self.labels),le="1.0"} 1
                http_client_request_duration_seconds_bucket{\(Self.labels),le="10.0"} 2
                http_client_request_duration_seconds_bucket{\(Self.labels),le="+Inf"} 2
                http_client_request_duration_seconds_sum{\(Self.labels)} 1.750000001
                http_client_request_duration_seconds_count{\(Self.labels)} 2
                # HELP dataloading_retries_total \(MetricFamily.retries.help)
                # TYPE dataloading_retries_total counter
                dataloading_retries_total{server_address="api.test",server_port="443",error_type="dns"} 7
                dataloading_retries_total{otel_metric_overflow="true"} 2
                # HELP process_resident_memory_bytes \(MetricFamily.residentMemory.help)
                # TYPE process_resident_memory_bytes gauge
                process_resident_memory_bytes 1048576
                # HELP target_info \(MetricFamily.targetInformation.help)
                # TYPE target_info gauge
                target_info{service_name="a\\"b\\\\c\\nd",service_instance_id="é"} 1

                """)
    }

    @Test func `OpenMetrics 1.0 is written byte by byte as expected`() {
        let exemplar =
            "# {trace_id=\"0af7651916cd43dd8448eb211c80319c\",span_id=\"000000000000b7ad\"} "
            + "1.500000001 1700000000.25"
        #expect(
            Self.texts.openMetrics == """
                # HELP http_client_request_duration_seconds \(MetricFamily.requestDuration.help)
                # TYPE http_client_request_duration_seconds histogram
                # UNIT http_client_request_duration_seconds seconds
                http_client_request_duration_seconds_bucket{\(Self.labels),le="0.5"} 1
                http_client_request_duration_seconds_bucket{\(Self.labels),le="1.0"} 1
                http_client_request_duration_seconds_bucket{\(Self.labels),le="10.0"} 2 \(exemplar)
                http_client_request_duration_seconds_bucket{\(Self.labels),le="+Inf"} 2
                http_client_request_duration_seconds_sum{\(Self.labels)} 1.750000001
                http_client_request_duration_seconds_count{\(Self.labels)} 2
                # HELP dataloading_retries \(MetricFamily.retries.help)
                # TYPE dataloading_retries counter
                dataloading_retries_total{server_address="api.test",server_port="443",error_type="dns"} 7
                dataloading_retries_total{otel_metric_overflow="true"} 2
                # HELP process_resident_memory_bytes \(MetricFamily.residentMemory.help)
                # TYPE process_resident_memory_bytes gauge
                # UNIT process_resident_memory_bytes bytes
                process_resident_memory_bytes 1048576
                # HELP target \(MetricFamily.targetInformation.help)
                # TYPE target info
                target_info{service_name="a\\"b\\\\c\\nd",service_instance_id="é"} 1
                # EOF

                """)
    }

    @Test func `a whole scrape differs between the formats in what they demand only`() {
        let registry = MetricRegistry.make()
        registry.countEverything()
        let writers = BothWriters(registry.names)
        registry.visit(writers)
        let ends = ["counter": "_total", "info": "_info"]
        let suffixes = MetricFamilyTests.rows.reduce(into: [String: String]()) {
            $0[$1.text] = ends[$1.kind]
        }
        let lines = writers.texts.openMetrics.split(separator: "\n").compactMap { line -> String? in
            guard !line.hasPrefix("# UNIT "), line != "# EOF" else { return nil }
            let words = line.split(separator: " ", maxSplits: 3)
            if line.hasPrefix("#"), let suffix = suffixes[String(words[2])] {
                let rest = words[3] == "info" ? "gauge" : words[3]
                return "\(words[0]) \(words[1]) \(words[2])\(suffix) \(rest)"
            }
            return String(line)
        }
        #expect(lines == writers.texts.prometheus.split(separator: "\n").map(String.init))
        #expect(writers.texts.openMetrics.hasSuffix("\n# EOF\n"))
    }

    @Test(arguments: [
        (0, "0.0"), (1, "0.000000001"), (5_000_000, "0.005"), (1_000_000_000, "1.0"),
        (-1_500_000_000, "-1.5"), (Int64.max, "9223372036.854775807"),
        (Int64.min, "-9223372036.854775808"),
    ]) func `nanoseconds are written as seconds without loss`(_ number: Int64, _ text: String) {
        #expect(number.secondsText == text)
    }

    @Test(arguments: [
        (MetricNumber.whole(-3), "-3"), (.real(0.25), "0.25"), (.real(.nan), "NaN"),
        (.real(.infinity), "+Inf"), (.real(-.infinity), "-Inf"), (.real(1e300), "1e+300"),
    ]) func `a number is written as both formats read it`(_ number: MetricNumber, _ text: String) {
        #expect(number.text == text)
    }

    @Test func `an exposition has the content type and the text of the accepted format`() {
        let registry = MetricRegistry.make()
        let plain = Exposition(registry, accepting: nil)
        #expect(
            plain.contentType == "text/plain; version=0.0.4; charset=utf-8; escaping=underscores")
        #expect(!String(decoding: plain.body, as: UTF8.self).contains("# EOF"))
        let open = Exposition(registry, accepting: "application/openmetrics-text")
        #expect(
            open.contentType
                == "application/openmetrics-text; version=1.0.0; charset=utf-8; "
                + "escaping=underscores")
        #expect(String(decoding: open.body, as: UTF8.self).hasSuffix("# EOF\n"))
    }
}
