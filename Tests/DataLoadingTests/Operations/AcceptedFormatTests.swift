// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import DataLoadingTesting
import Testing

@Suite struct AcceptedFormatTests {
    /// What Prometheus 2 and 3 send.
    private static let prometheus2 =
        "application/openmetrics-text;version=1.0.0,"
        + "application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
    private static let prometheus3 =
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
        + "application/openmetrics-text;version=0.0.1;q=0.5,"
        + "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
        + "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"

    @Test(arguments: [
        prometheus2, prometheus3, "application/openmetrics-text",
        "Application/OpenMetrics-Text ; Version=\"1.0.0\" ; q=1.000",
        "text/plain;q=0.5, application/openmetrics-text",
        "text/plain, application/openmetrics-text",
        "text/*;q=0.3, application/*;q=0.4", "*/*;q=0.1, application/openmetrics-text;q=0.2",
        "text/plain;q=0, */*;q=0.1",
        "application/openmetrics-text;q=0.001, text/plain;q=0",
    ]) func `a field that prefers OpenMetrics gets it`(_ accept: String) {
        #expect(ExpositionFormat(accepting: accept) == .openMetrics)
    }

    @Test(arguments: [
        nil, "", "*/*", "text/plain", "text/plain;version=0.0.4", "text/html, */*;q=0.5",
        "application/openmetrics-text;q=0.4, text/plain;q=0.5",
        "application/openmetrics-text;q=0, */*", "application/openmetrics-text;version=0.0.1",
        "application/openmetrics-text;version=2.0.0, text/plain;q=0.1",
        "application/openmetrics-text;q=0", "image/png", "application/json",
        "application/openmetrics-text;q=2", "application/openmetrics-text;q=0.1234",
        "application/openmetrics-text;q=-1", "application/openmetrics-text;q=1.5",
        "application/*, text/*", ",;,=;q=", "application/openmetrics-text;q=0.5x",
    ]) func `any other field gets Prometheus' text`(_ accept: String?) {
        #expect(ExpositionFormat(accepting: accept) == .prometheus)
    }

    @Test func `no field stops the process`() {
        let pieces = [
            "application/openmetrics-text", "text/plain", "*/*", ";", ",", "q=", "0.5", "1", "\"",
            "version=", "=", " ", "\t", "é", "\u{0}", ".", "999999999999999999999",
        ]
        property { generator in
            let field = (0..<8).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            return ExpositionFormat.allCases.contains(ExpositionFormat(accepting: field))
                ? nil : field
        }
    }
}
