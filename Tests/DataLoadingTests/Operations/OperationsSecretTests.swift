// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import DataLoading
import Testing

@Suite struct OperationsSecretTests {
    @Test func `neither the token nor the environment is in what is printed of the settings`() {
        var settings = OperationsConfiguration(environment: [
            "DATABASE_URL": "secret-database", "WATCHDOG_USEC": "1",
            "OTEL_EXPORTER_OTLP_HEADERS": "key=secret-header",
        ])
        #expect(settings.variables == ["WATCHDOG_USEC": "1"])
        let endpoint = OperationsEndpoint.loopback(port: 1, token: "secret-token")
        settings.endpoint = endpoint
        var text = "\(settings) \(endpoint) \(endpoint.place)"
        dump(settings, to: &text)
        dump(endpoint, to: &text)
        dump(endpoint.place, to: &text)
        #expect(!text.contains("secret"))
    }
}
