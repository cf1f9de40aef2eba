// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import Testing

@Suite struct MetricLabelTests {
    @Test func `the methods of RFC 9110 and RFC 5789 and QUERY are labels, and no other is`() {
        let known = [
            "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
        ]
        for name in known { #expect(MethodLabel(HTTPMethod(rawValue: name)).label.value == name) }
        for name in ["get", "PROPFIND", "", "GET ", "_OTHER"] {
            #expect(MethodLabel(HTTPMethod(rawValue: name)) == .other)
        }
        #expect(MethodLabel.allCases.count == known.count + 1)
    }

    @Test func `a status is a label if IANA lists it`() {
        let known = (-1...70_000).filter { StatusLabel(HTTPStatus(rawValue: $0)) != nil }
        #expect(known.count == 63)
        for status in [100, 208, 226, 308, 418, 425, 431, 451, 508, 511] {
            #expect(known.contains(status))
        }
        for status in [0, 99, 104, 209, 299, 309, 419, 427, 430, 509, 599, 999] {
            #expect(!known.contains(status))
        }
    }

    @Test func `the error of a response is its status from 400 on, if IANA lists it`() {
        #expect(ErrorLabel(HTTPStatus.ok) == nil)
        #expect(ErrorLabel(HTTPStatus.notModified) == nil)
        #expect(ErrorLabel(HTTPStatus.notFound)?.label.value == "404")
        #expect(ErrorLabel(HTTPStatus.serviceUnavailable)?.label.value == "503")
        #expect(ErrorLabel(HTTPStatus(rawValue: 299))?.label.value == "_OTHER")
        #expect(ErrorLabel(HTTPStatus(rawValue: 799))?.label.value == "_OTHER")
    }

    @Test func `the error of a failure is its kind, without what a server or a user said`() {
        #expect(ErrorLabel(DataLoaderError.dns)?.label.value == "dns")
        let framing = DataLoaderError.framing(reason: "a server's words")
        #expect(ErrorLabel(framing)?.label == Label("error.type", "framing"))
        #expect(ErrorLabel(DataLoaderError.status(500))?.label.value == "500")
        #expect(ErrorLabel(DataLoaderError.status(777))?.label.value == "_OTHER")
        #expect(ErrorLabel(DataLoaderError.cancelled) == nil)
    }

    @Test func `a version is a label if it is one of HTTP`() {
        #expect(VersionLabel(reported: "1.1") == .http11)
        #expect(VersionLabel(reported: "2")?.label == Label("network.protocol.version", "2"))
        #expect(VersionLabel(reported: "evil") == nil)
        #expect(VersionLabel(reported: nil) == nil)
    }

    @Test func `the first 32 source identifiers are labels, and later ones are not`() {
        let registry = MetricRegistry.make()
        let labels = (0..<1_000).map { registry.sources.label("source \($0)") }
        #expect(Set(labels).count == 33)
        #expect(registry.sources.label("source 31") == labels[31])
        #expect(labels[31].label(registry.names)?.value == "source 31")
        #expect(labels[32] == .other)
        #expect(labels[32].label(registry.names)?.value == "_OTHER")
        #expect(registry.sources.label(nil).label(registry.names) == nil)
    }

    @Test func `an empty source identifier is none, and makes no second series of the same labels`()
    {
        let table = SourceTable()
        #expect(table.label("") == SourceLabel.none)
        #expect(table.label("a") == .known(0))
    }

    @Test func `a source that is called as the others are is one of them`() {
        let table = SourceTable()
        #expect(table.label("_OTHER") == .other)
        #expect(table.label("a") == .known(0))
    }

    @Test func `a long text is cut at 256 characters, between characters`() {
        #expect(String(repeating: "a", count: 300).cutForLabel.utf8.count == 256)
        #expect(
            String(repeating: "é", count: 300).cutForLabel == String(repeating: "é", count: 256))
        #expect(String(repeating: "é", count: 200).cutForLabel.count == 200)
        let marks = "a" + String(repeating: "\u{301}", count: 10_000)
        #expect(marks.cutForLabel.unicodeScalars.count == 256)
        let table = SourceTable()
        let long = String(repeating: "b", count: 1_000)
        #expect(table.label(long) == table.label(long + "c"))
    }

    @Test func `label sets name the attributes of the table`() {
        let registry = MetricRegistry.make()
        let host = registry.hosts.label(forURL: "https://api.test/")
        let attempt = AttemptLabels(
            host: host, method: .get, status: StatusLabel(503), error: ErrorLabel(503),
            version: .http2)
        #expect(
            attempt.labels(registry.names).map(\.name) == [
                "http.request.method", "server.address", "server.port",
                "http.response.status_code", "error.type", "network.protocol.version",
            ])
        let load = LoadLabels(
            source: registry.sources.label("feed"), outcome: .failure, error: ErrorLabel(503))
        #expect(
            load.labels(registry.names).map(\.name) == [
                "dataloading.source", "dataloading.outcome", "error.type",
            ])
        let wait = WaitLabels(wait: .slot, host: host.withoutPort)
        #expect(wait.labels(registry.names).map(\.value) == ["slot", "api.test"])
        let retry = RetryLabels(host: .other, error: nil)
        #expect(retry.labels(registry.names) == [Label("server.address", "_OTHER")])
        var kind = StoreOperations.Kind(command: "EVALSHA", script: "lease")
        kind.server = StoreOperations.Server(address: "redis.test", port: 6_379)
        kind.error = "silent"
        #expect(
            StoreLabels(system: "redis", kind: kind).labels(registry.names) == [
                Label("db.system.name", "redis"), Label("db.operation.name", "EVALSHA"),
                Label("db.stored_procedure.name", "lease"), Label("server.address", "redis.test"),
                Label("server.port", "6379"), Label("error.type", "silent"),
            ])
    }
}
