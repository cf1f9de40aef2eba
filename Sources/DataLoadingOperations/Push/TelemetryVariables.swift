// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// What the variables of OpenTelemetry say about the service and its collector.
///
/// A variable that is empty counts as unset. The values of malformed ones are not kept, because
/// headers hold keys.
struct TelemetryVariables {
    private(set) var push: TelemetryPush?
    /// The attributes of the resource, in the order of the variable.
    private(set) var resource: [Label] = []
    /// The names of malformed variables.
    private(set) var malformed: [String] = []
    private let variables: [String: String]

    init(_ variables: [String: String]) {
        self.variables = variables
        resource = list("OTEL_RESOURCE_ATTRIBUTES").map { Label($0.key, $0.value) }
        let headers = list("OTEL_EXPORTER_OTLP_HEADERS").map {
            HTTPHeaders.Field(name: $0.key, value: $0.value)
        }
        if headers.contains(where: { (try? RequestCheck.check($0)) == nil }) {
            malformed.append("OTEL_EXPORTER_OTLP_HEADERS")
        }
        let interval = milliseconds("OTEL_METRIC_EXPORT_INTERVAL")
        let timeout = milliseconds("OTEL_EXPORTER_OTLP_TIMEOUT")
        let base = url("OTEL_EXPORTER_OTLP_ENDPOINT")
        let metrics = url("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")
        let traces = url("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
        let policy = trust(for: [base, metrics, traces].compactMap(\.self))
        guard let endpoint = base ?? metrics ?? traces else { return }
        var push = TelemetryPush(endpoint: endpoint)
        push.headers = HTTPHeaders(headers)
        if let interval { push.interval = interval }
        if let timeout { push.timeout = timeout }
        push.serverTrustPolicy = policy
        push.metricsEndpoint = metrics
        push.tracesEndpoint = traces
        // With an endpoint for one of them only, the other one has none.
        push.sendsMetrics = base != nil || metrics != nil
        push.sendsTraces = base != nil || traces != nil
        self.push = push
    }

    /// The name of the service; nil without one.
    var serviceName: String? { value("OTEL_SERVICE_NAME") ?? attribute("service.name") }

    /// The value of an attribute of the resource; nil for an empty one, too.
    func attribute(_ name: String) -> String? {
        resource.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// The authority that the collector's certificate is checked with, and the client's certificate.
    private mutating func trust(for urls: [URL]) -> ServerTrustPolicy? {
        let authority = file("OTEL_EXPORTER_OTLP_CERTIFICATE")
        let certificate = file("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE")
        let key = file("OTEL_EXPORTER_OTLP_CLIENT_KEY")
        if (certificate == nil) != (key == nil) {
            malformed.append("OTEL_EXPORTER_OTLP_CLIENT_KEY")
        }
        guard authority != nil || certificate != nil else { return nil }
        var policy = ServerTrustPolicy(certificateAuthorities: authority)
        if (try? policy.validate()) == nil { malformed.append("OTEL_EXPORTER_OTLP_CERTIFICATE") }
        guard let certificate, let key else { return policy }
        let identity = ClientIdentity(certificateChain: certificate, privateKey: key)
        for url in urls {
            guard var host = try? RequestTarget(url).origin.host else { continue }
            // Patterns have no final dot.
            if host.last == "." { host.removeLast() }
            policy.clientIdentities[host] = identity
        }
        if malformed.isEmpty, (try? policy.validate()) == nil {
            malformed.append("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE")
        }
        return policy
    }

    /// The bytes of the file that a variable names.
    private mutating func file(_ name: String) -> Data? {
        guard let path = value(name) else { return nil }
        let bytes = try? Data(contentsOf: URL(fileURLWithPath: path))
        if bytes == nil { malformed.append(name) }
        return bytes
    }

    private func value(_ name: String) -> String? {
        variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private mutating func list(_ name: String) -> [(key: String, value: String)] {
        guard let text = value(name) else { return [] }
        guard let list = KeyValueList(text) else {
            malformed.append(name)
            return []
        }
        return list.pairs
    }

    private mutating func milliseconds(_ name: String) -> Duration? {
        guard let text = value(name) else { return nil }
        guard let number = Int64(text), number > 0 else {
            malformed.append(name)
            return nil
        }
        return .milliseconds(number)
    }

    private mutating func url(_ name: String) -> URL? {
        guard let text = value(name) else { return nil }
        guard let url = URL(string: text), (try? RequestTarget(url)) != nil else {
            malformed.append(name)
            return nil
        }
        return url
    }
}
