// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A plot that can be drawn from the figures of a measure.
struct PlotKind: Sendable {
    let file: String
    let title: String
    let xName: String
    let yName: String
    let measure: Int
    /// The name of the line that a figure belongs to; nil for none.
    let line: @Sendable (Figure) -> String?

    static let all = [
        PlotKind(
            file: "concurrency.svg", title: "Small GETs: processor time against concurrency",
            xName: "loads at once", yName: "ms for 1,000 loads", measure: SmallGets.number,
            line: { $0.unit == "ms/1000" ? $0.contestant : nil }),
        PlotKind(
            file: "waiting.svg", title: "Loads that wait for a rate", xName: "waiting loads",
            yName: "us of processor time for a load", measure: WaitingLoads.number,
            line: { $0.unit.hasPrefix("us/") ? String($0.unit.dropFirst(3)) : nil }),
        PlotKind(
            file: "hosts.svg", title: "Hosts and loaders in turn, above the transport",
            xName: "hosts or loaders", yName: "us of processor time for a load",
            measure: ManyOrigins.number, line: { $0.unit == "us/load" ? $0.scene : nil }),
        PlotKind(
            file: "body-size.svg", title: "GETs: processor time against the size of the body",
            xName: "bytes", yName: "ms for 1,000 loads", measure: BodySizes.number,
            line: { $0.unit == "ms/1000" ? $0.contestant : nil }),
    ]

    /// Writes the plots for which there are figures into a directory.
    static func write(_ figures: [Figure], to directory: String) throws {
        let directory = URL(fileURLWithPath: directory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for kind in all {
            let plot = kind.plot(of: figures)
            guard plot.lines.contains(where: { $0.points.count > 1 }) else { continue }
            try Data(plot.svg.utf8).write(to: directory.appendingPathComponent(kind.file))
        }
    }

    private func plot(of figures: [Figure]) -> Plot {
        var names: [String] = []
        var points: [String: [(x: Double, y: Double)]] = [:]
        for figure in figures where figure.measure == measure {
            guard let name = line(figure) else { continue }
            if points[name] == nil { names.append(name) }
            points[name, default: []].append((Double(figure.c), figure.median))
        }
        let lines = names.map { name in
            Plot.Line(name: name, points: points[name, default: []].sorted { $0.x < $1.x })
        }
        return Plot(title: title, xName: xName, yName: yName, lines: lines)
    }
}
