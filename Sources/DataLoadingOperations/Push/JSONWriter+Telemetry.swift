// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// The pieces of OTLP's JSON: 64-bit integers are texts, numbers of traces and spans hexadecimal, and
/// words of enumerations numbers.
extension JSONWriter {
    /// Writes a time as the nanoseconds since the Unix epoch.
    mutating func member(_ name: StaticString, time nanoseconds: Int64) {
        member(name, String(max(0, nanoseconds)))
    }

    /// Writes the attributes of a label set, in the types that OpenTelemetry gives them.
    mutating func attributes(_ labels: [Label]) {
        key("attributes")
        array(of: labels) { json, label in
            switch label.name {
            case "server.port", "http.response.status_code":
                json.attribute(label.name, Int64(label.value) ?? 0)
            case "otel.metric.overflow": json.attribute(label.name, label.value == "true")
            default: json.attribute(label.name, label.value.cutForLabel)
            }
        }
    }

    /// Writes the attributes of a resource, whole and as texts: `OTEL_RESOURCE_ATTRIBUTES` has
    /// nothing else, whatever their names are.
    private mutating func resourceAttributes(_ labels: [Label]) {
        key("attributes")
        array(of: labels) { $0.attribute($1.name, $1.value) }
    }

    /// Writes an attribute; a value that is nil leaves it out.
    mutating func attribute(_ name: String, _ text: String?) {
        guard let text else { return }
        attribute(name) { $0.member("stringValue", text) }
    }

    mutating func attribute(_ name: String, _ number: Int64?) {
        guard let number else { return }
        attribute(name) { $0.member("intValue", String(number)) }
    }

    mutating func attribute(_ name: String, seconds duration: Duration) {
        attribute(name) { $0.member("doubleValue", duration.inSeconds) }
    }

    mutating func attribute(_ name: String, _ isTrue: Bool) {
        attribute(name) { $0.member("boolValue", isTrue) }
    }

    private mutating func attribute(_ name: String, _ value: (inout JSONWriter) -> Void) {
        object { json in
            json.member("key", name)
            json.key("value")
            json.object(value)
        }
    }

    /// Writes the object of a whole request: one resource with one scope.
    mutating func request(
        _ resources: StaticString, _ scopes: StaticString, of resource: [Label],
        _ body: (inout JSONWriter) -> Void
    ) {
        object { json in
            json.key(resources)
            json.array { json in
                json.object { json in
                    json.key("resource")
                    json.object { $0.resourceAttributes(resource) }
                    json.key(scopes)
                    json.array { json in
                        json.object { json in
                            json.scope()
                            body(&json)
                        }
                    }
                }
            }
        }
    }

    private mutating func scope() {
        key("scope")
        object { json in
            json.member("name", BuildLabels.library)
            json.member("version", BuildLabels.version)
        }
    }
}
