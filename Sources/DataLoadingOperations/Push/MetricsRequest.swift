// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Writes metrics as an `ExportMetricsServiceRequest`.
///
/// Sums are cumulative, from the start of the service, so that a push that is lost loses nothing.
final class MetricsRequest: MetricVisitor {
    private enum Value {
        case number(MetricNumber)
        case histogram(HistogramCell)
    }

    private struct Family {
        let family: MetricFamily
        var points: [(labels: [Label], value: Value)] = []
    }

    /// OTLP's number for sums that are cumulative.
    private static let cumulative = 2
    private static let resourceFamily = MetricFamily.targetInformation.name
    private let names: LabelNames
    private let start: Int64
    private let time: Int64
    private var families: [Family] = []

    /// Makes the request of a time, in nanoseconds since the Unix epoch.
    init(_ names: LabelNames, from start: Int64, at time: Int64) {
        self.names = names
        self.start = start
        self.time = time
    }

    /// The number of data points.
    var count: Int { families.reduce(0) { $0 + $1.points.count } }

    func begin(_ family: MetricFamily) {
        families.append(Family(family: family))
    }

    func add(_ number: MetricNumber, _ labels: any LabelSet) {
        // JSON has no word for what is no number.
        if case .real(let real) = number, !real.isFinite { return }
        append(.number(number), labels)
    }

    func add(_ histogram: HistogramCell, _ labels: any LabelSet) {
        append(.histogram(histogram), labels)
    }

    private func append(_ value: Value, _ labels: any LabelSet) {
        // The resource has what `target.info` tells.
        guard let family = families.last?.family, family.name != Self.resourceFamily else { return }
        families[families.count - 1].points.append((labels.labels(names), value))
    }

    /// The bytes of the request.
    func bytes(of resource: [Label]) -> [UInt8] {
        var json = JSONWriter()
        json.request("resourceMetrics", "scopeMetrics", of: resource) { json in
            json.key("metrics")
            json.array(of: families.filter { !$0.points.isEmpty }) { write($1, &$0) }
        }
        return json.bytes
    }

    private func write(_ family: Family, _ json: inout JSONWriter) {
        json.object { json in
            json.member("name", family.family.name)
            json.member("description", family.family.help)
            json.member("unit", family.family.unit)
            switch family.family.kind {
            case .counter: sum(family, isMonotonic: true, &json)
            case .upDownCounter: sum(family, isMonotonic: false, &json)
            // OTLP has no kind for it.
            case .gauge, .info:
                json.key("gauge")
                json.object { points(of: family, &$0) }
            case .histogram:
                json.key("histogram")
                json.object { json in
                    json.member("aggregationTemporality", Self.cumulative)
                    points(of: family, &json)
                }
            }
        }
    }

    private func sum(_ family: Family, isMonotonic: Bool, _ json: inout JSONWriter) {
        json.key("sum")
        json.object { json in
            json.member("aggregationTemporality", Self.cumulative)
            json.member("isMonotonic", isMonotonic)
            points(of: family, &json)
        }
    }

    private func points(of family: Family, _ json: inout JSONWriter) {
        json.key("dataPoints")
        json.array(of: family.points) { json, point in
            json.object { json in
                json.attributes(point.labels)
                // A gauge has no start: it is no sum.
                if ![.gauge, .info].contains(family.family.kind) {
                    json.member("startTimeUnixNano", time: start)
                }
                json.member("timeUnixNano", time: time)
                switch point.value {
                case .number(.whole(let number)): json.member("asInt", String(number))
                case .number(.real(let number)): json.member("asDouble", number)
                case .histogram(let cell): json.members(of: cell)
                }
            }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func members(of cell: HistogramCell) {
        member("count", String(cell.count))
        member("sum", Double(cell.sum) / 1e9)
        key("bucketCounts")
        array(of: cell.counts) { $0.value(String($1)) }
        key("explicitBounds")
        array(of: cell.bounds) { $0.value(Double($1) / 1e9) }
        let exemplars = cell.exemplars.compactMap(\.self)
        guard !exemplars.isEmpty else { return }
        key("exemplars")
        array(of: exemplars) { json, exemplar in
            let sample = exemplar.sample
            json.object { json in
                json.member("timeUnixNano", time: sample.time)
                json.member("asDouble", Double(exemplar.nanoseconds) / 1e9)
                json.member("traceId", sample.traceHigh.hexText + sample.traceLow.hexText)
                json.member("spanId", sample.spanID.hexText)
            }
        }
    }
}
