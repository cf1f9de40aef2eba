// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The project's files that contain samples, found from the path of this file.
struct SourceTree {
    let root: URL

    init(of file: String = #filePath) {
        root = (0..<4).reduce(URL(fileURLWithPath: file)) { url, _ in
            url.deletingLastPathComponent()
        }
    }

    func lines(of path: String) throws -> [String] {
        let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        return text.components(separatedBy: "\n")
    }

    func files(below path: String, _ fileExtension: String) -> [String] {
        let walk = FileManager.default.enumerator(atPath: root.appendingPathComponent(path).path)
        let found = walk?.compactMap { $0 as? String } ?? []
        return found.filter { $0.hasSuffix("." + fileExtension) }.sorted().map { path + "/" + $0 }
    }
}

/// One block of Swift code in a text.
private struct CodeSample {
    let place: String
    var lines: [String] = []

    /// The blocks between ` ```swift ` and ` ``` `, without indentation and empty lines.
    static func all(in lines: [String], of path: String) -> [CodeSample] {
        var samples: [CodeSample] = []
        var open: CodeSample?
        for (index, line) in lines.enumerated() {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text == "```swift" {
                open = CodeSample(place: "\(path):\(index + 1)")
            } else if text == "```", let sample = open {
                samples.append(sample)
                open = nil
            } else if !text.isEmpty {
                open?.lines.append(text)
            }
        }
        return samples
    }

    /// Whether the lines are consecutive in a compiled text that also has the imports.
    func isPart(of compiled: String) -> Bool {
        let imports = lines.filter { $0.hasPrefix("import ") }
        let body = lines.filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
        return compiled.contains("\n" + body + "\n")
            && imports.allSatisfy { compiled.contains("\n" + $0 + "\n") }
    }
}

@Suite struct CodeSamplesTests {
    private let tree = SourceTree()

    @Test func `every sample in the documentation is part of a compiled file`() throws {
        let folders = ["Tests/DataLoadingTests/", "Tests/CombineOnLinux/Tests/PublisherTests/"]
        let files =
            folders.flatMap { tree.files(below: $0 + "CodeSamples", "swift") }
            + tree.files(below: "Tests/SwiftServerAdapters/Sources", "swift")
        let compiled = try files.map {
            let lines = try tree.lines(of: $0).map { $0.trimmingCharacters(in: .whitespaces) }
            return "\n" + lines.filter { !$0.isEmpty }.joined(separator: "\n") + "\n"
        }
        let samples = try samplesOfTexts() + samplesOfDocComments()
        #expect(samples.count > 20)
        for sample in samples where !compiled.contains(where: sample.isPart) {
            Issue.record("\(sample.place) has a sample that is compiled nowhere")
        }
    }

    @Test(arguments: ["README.md", "Tests/Guarantees.md", "Demo/README.md"])
    func `every file that a README links to exists`(path: String) throws {
        let text = try tree.lines(of: path).joined(separator: "\n")
        let folder = tree.root.appendingPathComponent(path).deletingLastPathComponent()
        let links = text.components(separatedBy: "](").dropFirst().map { $0.prefix { $0 != ")" } }
        #expect(links.count >= 5)
        for link in links where !link.hasPrefix("http") {
            let file = folder.appendingPathComponent(String(link)).standardizedFileURL.path
            #expect(FileManager.default.fileExists(atPath: file), "\(link)")
        }
    }

    private func samplesOfTexts() throws -> [CodeSample] {
        let articles = tree.files(below: "Sources/DataLoading/DataLoading.docc", "md")
        #expect(articles.count > 4)
        return try (["README.md"] + articles).flatMap {
            CodeSample.all(in: try tree.lines(of: $0), of: $0)
        }
    }

    private func samplesOfDocComments() throws -> [CodeSample] {
        try tree.files(below: "Sources", "swift").flatMap { path in
            let comments = try tree.lines(of: path).map { line in
                let text = line.trimmingCharacters(in: .whitespaces)
                return text.hasPrefix("///") ? String(text.dropFirst(3)) : ""
            }
            return CodeSample.all(in: comments, of: path)
        }
    }
}
