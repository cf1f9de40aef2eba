// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Lines over a logarithmic x axis, as an SVG that can be read on light and on dark ground.
struct Plot {
    /// A line with its name.
    struct Line {
        let name: String
        let points: [(x: Double, y: Double)]
    }

    let title: String
    let xName: String
    let yName: String
    let lines: [Line]

    private static let size = (width: 720.0, height: 400.0)
    private static let frame = (left: 70.0, right: 520.0, top: 40.0, bottom: 340.0)
    /// Colours of a middle lightness, which contrast with white and with black.
    private static let colours = [
        "#e0663b", "#2f8fd0", "#3fa34d", "#a56bd1", "#c29a1c", "#d0508c", "#24a3a3", "#8a7560",
    ]
    private static let grey = "#808080"

    var svg: String {
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.size.width)) \
            \(Int(Self.size.height))" font-family="sans-serif" font-size="12" fill="\(Self.grey)">
            """,
            Self.text(title, Self.frame.left, 22, "start", size: 15),
            Self.text(xName, (Self.frame.left + Self.frame.right) / 2, 382, "middle"),
            Self.text(yName, Self.frame.left, 36, "start"),
        ]
        parts += xAxis.ticks.map(xTick) + yAxis.ticks.map(yTick)
        for (index, line) in lines.enumerated() { parts.append(drawn(line, index)) }
        return parts.joined(separator: "\n") + "\n</svg>\n"
    }

    private var xAxis: LogarithmicAxis { LogarithmicAxis(lines.flatMap(\.points).map(\.x)) }
    private var yAxis: LogarithmicAxis { LogarithmicAxis(lines.flatMap(\.points).map(\.y)) }

    private func x(_ value: Double) -> Double {
        Self.frame.left + xAxis.share(of: value) * (Self.frame.right - Self.frame.left)
    }

    private func y(_ value: Double) -> Double {
        Self.frame.bottom - yAxis.share(of: value) * (Self.frame.bottom - Self.frame.top)
    }

    private func xTick(_ value: Double) -> String {
        Self.rule(x(value), Self.frame.top, x(value), Self.frame.bottom)
            + Self.text(Self.label(value), x(value), Self.frame.bottom + 18, "middle")
    }

    private func yTick(_ value: Double) -> String {
        Self.rule(Self.frame.left, y(value), Self.frame.right, y(value))
            + Self.text(Self.label(value), Self.frame.left - 8, y(value) + 4, "end")
    }

    private func drawn(_ line: Line, _ index: Int) -> String {
        let colour = Self.colours[index % Self.colours.count]
        let places = line.points.map { (x: x($0.x), y: y($0.y)) }
        let path = places.map { String(format: "%.1f,%.1f", $0.x, $0.y) }.joined(separator: " ")
        let dots = places.map {
            String(
                format: "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"\(colour)\"/>", $0.x, $0.y)
        }
        let height = Self.frame.top + 12 + Double(index) * 20
        return """
            <polyline points="\(path)" fill="none" stroke="\(colour)" stroke-width="2"/>
            \(dots.joined())
            <rect x="536" y="\(height - 10)" width="12" height="12" fill="\(colour)"/>
            \(Self.text(line.name, 554, height, "start"))
            """
    }

    private static func rule(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
        String(
            format: "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"\(grey)\" stroke-opacity=\"0.4\"/>",
            x1, y1, x2, y2)
    }

    private static func text(
        _ text: String, _ x: Double, _ y: Double, _ anchor: String, size: Int = 12
    ) -> String {
        let escaped = text.replacingOccurrences(of: "&", with: "&amp;")
            .replacingOccurrences(of: "<", with: "&lt;")
        return String(format: "<text x=\"%.1f\" y=\"%.1f\" ", x, y)
            + "text-anchor=\"\(anchor)\" font-size=\"\(size)\">\(escaped)</text>"
    }

    private static func label(_ value: Double) -> String {
        value >= 1 ? String(format: "%.0f", value) : String(format: "%g", value)
    }
}
