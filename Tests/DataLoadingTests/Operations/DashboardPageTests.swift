// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import DataLoadingSupport
import Foundation
import Testing

@Suite struct DashboardPageTests {
    private let page = String(decoding: DashboardPage.bytes, as: UTF8.self)

    private func part(_ name: String) throws -> String {
        let start = try #require(page.range(of: "<\(name)>")?.upperBound)
        let end = try #require(page.range(of: "</\(name)>")?.lowerBound)
        return String(page[start..<end])
    }

    @Test func `the page has at most 40 KiB`() {
        #expect(DashboardPage.bytes.count <= 40_960)
    }

    @Test func `the policy allows the script and the style of the page, and nothing else`() throws {
        func hash(_ name: String) throws -> String {
            Data(SHA256.hash(try part(name).utf8)).base64EncodedString()
        }
        #expect(
            DashboardPage.contentSecurityPolicy == "default-src 'none'; script-src 'sha256-"
                + (try hash("script")) + "'; style-src 'sha256-" + (try hash("style"))
                + "'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
                + "'none'; require-trusted-types-for 'script'; trusted-types 'none'")
        // Hashes cover one element each.
        #expect(page.components(separatedBy: "<script").count == 2)
        #expect(page.components(separatedBy: "<style").count == 2)
    }

    @Test(arguments: [
        "innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", " style=", "onclick",
        "EventSource", "localStorage", "cookie", "src=", "@import", "javascript:", "<form",
    ])
    func `the page does without`(_ word: String) {
        #expect(!page.contains(word))
    }

    @Test func `the page names no address but that of SVG and a prefix that it hides`() throws {
        let addresses = page.components(separatedBy: "://").dropFirst().map { $0.prefix(10) }
        #expect(addresses == ["www.w3.org"])
    }

    @Test func `every part of a load that is drawn has a colour in both schemes`() throws {
        let (light, dark) = try schemes()
        #expect(light.keys.sorted() == dark.keys.sorted())
        for name in ["slot", "token", "backoff", "connect", "tls", "server", "body"] {
            for scheme in [light, dark] {
                let contrast = Colour.contrast(
                    try #require(scheme[name]), try #require(scheme["panel"]))
                #expect(contrast >= 3, "\(name)")
            }
        }
    }

    @Test func `text has a contrast of 4.5 to 1 on everything that it stands on`() throws {
        let (light, dark) = try schemes()
        let pairs = [
            ["text", "muted", "link", "good", "warn", "bad"].flatMap { text in
                ["panel", "page", "raised", "bad-panel", "good-panel"].map { (text, $0) }
            },
            [("panel", "text")],
        ].joined()
        for (scheme, name) in [(light, "light"), (dark, "dark")] {
            for (text, ground) in pairs {
                let contrast = Colour.contrast(
                    try #require(scheme[text]), try #require(scheme[ground]))
                #expect(contrast >= 4.5, "\(text) on \(ground), \(name)")
            }
        }
    }

    /// The colours of the light scheme and of the dark one.
    private func schemes() throws -> (light: [String: Colour], dark: [String: Colour]) {
        let blocks = try part("style").components(separatedBy: ":root{").dropFirst()
            .map { Colour.properties(in: $0.prefix { $0 != "}" }) }
        try #require(blocks.count == 2)
        return (blocks[0], blocks[1])
    }
}

/// A colour as WCAG 2.2 sees it.
private struct Colour {
    let luminance: Double

    init?(_ digits: Substring) {
        guard digits.count == 6, let number = Int(digits, radix: 16) else { return nil }
        let parts = [16, 8, 0].map { shift -> Double in
            let value = Double(number >> shift & 0xFF) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        luminance = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }

    static func contrast(_ one: Colour, _ other: Colour) -> Double {
        let (low, high) = (
            min(one.luminance, other.luminance), max(one.luminance, other.luminance)
        )
        return (high + 0.05) / (low + 0.05)
    }

    /// The custom properties that are colours: "--text:#18202c;".
    static func properties(in block: some StringProtocol) -> [String: Colour] {
        var result: [String: Colour] = [:]
        for declaration in block.split(separator: ";") {
            let parts = String(declaration).split(separator: ":")
            guard parts.count == 2, parts[0].hasPrefix("--"), parts[1].hasPrefix("#") else {
                continue
            }
            result[String(parts[0].dropFirst(2))] = Colour(parts[1].dropFirst())
        }
        return result
    }
}
