// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import Foundation
import Testing

/// The variables of the environment that OpenTelemetry defines.
@Suite struct TelemetryVariablesTests {
    @Test func `without variables nothing is sent, and requests have no trace unless they ask`() {
        let settings = OperationsConfiguration(environment: [:])
        #expect(settings.push == nil)
        #expect(settings.tracing == .whenAsked)
        #expect(settings.propagatesTo.isEmpty)
        #expect(!settings.recordsLoadSpans)
        #expect(settings.malformedName == nil)
    }

    @Test(arguments: ["http://collector.test:4318", "http://collector.test:4318/"])
    func `the paths of both signals follow a common endpoint`(_ text: String) throws {
        let push = try #require(
            OperationsConfiguration(environment: ["OTEL_EXPORTER_OTLP_ENDPOINT": text]).push)
        #expect(push.metricsURL.absoluteString == "http://collector.test:4318/v1/metrics")
        #expect(push.tracesURL.absoluteString == "http://collector.test:4318/v1/traces")
        #expect(push.sendsMetrics && push.sendsTraces)
        #expect(push.interval == .seconds(60))
        #expect(push.timeout == .seconds(10))
    }

    @Test func `the endpoint of one signal is used as it is`() throws {
        var variables = ["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "https://m.test/write?a=b"]
        var push = try #require(OperationsConfiguration(environment: variables).push)
        #expect(push.metricsURL.absoluteString == "https://m.test/write?a=b")
        #expect(push.sendsMetrics && !push.sendsTraces)
        variables["OTEL_EXPORTER_OTLP_ENDPOINT"] = "https://c.test/base"
        push = try #require(OperationsConfiguration(environment: variables).push)
        #expect(push.metricsURL.absoluteString == "https://m.test/write?a=b")
        #expect(push.tracesURL.absoluteString == "https://c.test/base/v1/traces")
        #expect(push.sendsTraces)
        push.endpoint = testURL("https://d.test")
        #expect(push.metricsURL.absoluteString == "https://d.test/v1/metrics")
        let traces = try #require(
            OperationsConfiguration(
                environment: ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://t.test/"]
            ).push)
        #expect(!traces.sendsMetrics && traces.sendsTraces)
    }

    @Test func `headers, times and attributes are read`() throws {
        let settings = OperationsConfiguration(environment: [
            "OTEL_EXPORTER_OTLP_ENDPOINT": "https://c.test",
            "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b%3D , x=1,",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "2500", "OTEL_METRIC_EXPORT_INTERVAL": "5000",
            "OTEL_RESOURCE_ATTRIBUTES":
                "service.name=feeds,service.version=1.4,service.instance.id=i,deployment.environment.name=caf%C3%A9",
        ])
        let push = try #require(settings.push)
        #expect(push.headers == ["api-key": "a b=", "x": "1"])
        #expect(push.timeout == .milliseconds(2_500))
        #expect(push.interval == .seconds(5))
        #expect(settings.serviceName == "feeds")
        #expect(settings.serviceVersion == "1.4")
        #expect(settings.instance == "i")
        #expect(
            settings.resourceAttributes.contains(Label("deployment.environment.name", "café")))
        #expect(settings.malformedName == nil)
        let named = OperationsConfiguration(environment: [
            "OTEL_SERVICE_NAME": "first", "OTEL_RESOURCE_ATTRIBUTES": "service.name=second",
        ])
        #expect(named.serviceName == "first")
    }

    @Test func `files of certificates are read for the collector's host, and must be there`()
        throws
    {
        let directory = TemporaryDirectory()
        let text = """
            -----BEGIN CERTIFICATE-----
            AAAA
            -----END CERTIFICATE-----

            """
        for name in ["authority", "certificate"] {
            try Data(text.utf8).write(to: directory.url(name))
        }
        let key = text.replacingOccurrences(of: "CERTIFICATE", with: "PRIVATE KEY")
        try Data(key.utf8).write(to: directory.url("key"))
        var variables = [
            "OTEL_EXPORTER_OTLP_ENDPOINT": "https://c.test:4318",
            "OTEL_EXPORTER_OTLP_CERTIFICATE": directory.url("authority").path,
            "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": directory.url("certificate").path,
        ]
        let halved = OperationsConfiguration(environment: variables)
        #expect(halved.malformedName == "OTEL_EXPORTER_OTLP_CLIENT_KEY")
        variables["OTEL_EXPORTER_OTLP_CLIENT_KEY"] = directory.url("key").path
        let settings = OperationsConfiguration(environment: variables)
        #expect(settings.malformedName == nil)
        let policy = try #require(settings.push?.serverTrustPolicy)
        #expect(policy.certificateAuthorities == Data(text.utf8))
        #expect(Array(policy.clientIdentities.keys) == ["c.test"])
        for (url, host) in [
            ("https://Collector.Test.:4318", "collector.test"), ("https://[::1]:4318", "[::1]"),
        ] {
            variables["OTEL_EXPORTER_OTLP_ENDPOINT"] = url
            let settings = OperationsConfiguration(environment: variables)
            #expect(settings.malformedName == nil)
            #expect(settings.push?.serverTrustPolicy?.clientIdentities.keys.first == host)
        }
        variables["OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"] = directory.url("key").path
        #expect(
            OperationsConfiguration(environment: variables).malformedName
                == "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE")
        variables["OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"] = directory.url("certificate").path
        variables["OTEL_EXPORTER_OTLP_CERTIFICATE"] = directory.url("none").path
        #expect(
            OperationsConfiguration(environment: variables).malformedName
                == "OTEL_EXPORTER_OTLP_CERTIFICATE")
        try Data("no certificate".utf8).write(to: directory.url("none"))
        #expect(
            OperationsConfiguration(environment: variables).malformedName
                == "OTEL_EXPORTER_OTLP_CERTIFICATE")
    }

    @Test(arguments: [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "unix:/run/secret"),
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://u:secret@c.test/"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http:// secret"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "secret"), ("OTEL_EXPORTER_OTLP_HEADERS", "a=%0Asecret"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "se cret=1"), ("OTEL_EXPORTER_OTLP_HEADERS", "host=secret"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "0"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "-1"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "99999999999999999999"),
        ("OTEL_RESOURCE_ATTRIBUTES", "=secret"), ("OTEL_RESOURCE_ATTRIBUTES", "a=%secret"),
    ])
    func `a malformed variable is told at the start, without its value`(
        _ name: String, _ value: String
    ) throws {
        var variables = ["OTEL_EXPORTER_OTLP_ENDPOINT": "https://c.test"]
        variables[name] = value
        let settings = OperationsConfiguration(environment: variables)
        var configuration = DataLoaderService.Configuration()
        let operations = Operations(settings, instrumenting: &configuration)
        let service = DataLoaderService(configuration: configuration)
        let error = #expect(throws: OperationsError.self) { try operations.start(for: service) }
        #expect(error == .malformed(name: name))
        #expect(error?.description == "\(name) is malformed")
    }

    @Test func `a variable that is empty counts as unset`() {
        let names = [
            "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS",
            "OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_METRIC_EXPORT_INTERVAL",
            "OTEL_RESOURCE_ATTRIBUTES",
        ]
        let settings = OperationsConfiguration(
            environment: Dictionary(uniqueKeysWithValues: names.map { ($0, "") }))
        #expect(settings.push == nil)
        #expect(settings.malformedName == nil)
    }

    @Test func `an empty name of the service counts as unset, in its variable and as an attribute`()
    {
        let program = ProcessInfo.processInfo.processName
        var variables = ["OTEL_SERVICE_NAME": ""]
        #expect(OperationsConfiguration(environment: variables).serviceName == program)
        variables["OTEL_RESOURCE_ATTRIBUTES"] = "service.name=feeds"
        #expect(OperationsConfiguration(environment: variables).serviceName == "feeds")
        variables["OTEL_RESOURCE_ATTRIBUTES"] =
            "service.name=,service.version=,service.instance.id="
        let settings = OperationsConfiguration(environment: variables)
        #expect(settings.serviceName == program)
        #expect(settings.serviceVersion == nil)
        #expect(!settings.instance.isEmpty)
        #expect(settings.malformedName == nil)
    }

    @Test func `a setting with which no request can be made is told at the start`() {
        var push = TelemetryPush(endpoint: testURL("ftp://c.test/"))
        #expect(push.fault == "TelemetryPush.endpoint")
        push.endpoint = testURL("https://c.test/")
        push.headers = ["bad name": "secret"]
        #expect(push.fault == "TelemetryPush.headers")
        push.headers = [:]
        push.timeout = .zero
        #expect(push.fault == "TelemetryPush.timeout")
        push.timeout = .seconds(1)
        push.serverTrustPolicy = ServerTrustPolicy(pinnedPublicKeys: ["c.test": ["no digest"]])
        #expect(push.fault == "TelemetryPush.serverTrustPolicy")
        push.serverTrustPolicy = ServerTrustPolicy()
        #expect(push.fault == nil)
    }
}
