// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A directory of a test, removed with this object.
///
/// The first directory of the next run removes what a killed process has left.
final class TemporaryDirectory: Sendable {
    private static let prefix = "dataloading-"
    private static let parent = FileManager.default.temporaryDirectory

    let url: URL

    init() {
        Self.sweep
        let process = ProcessInfo.processInfo.processIdentifier
        url = Self.parent.appendingPathComponent("\(Self.prefix)\(process)-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    private static let sweep: Void = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let process = name.dropFirst(prefix.count).prefix { $0 != "-" }
            guard let number = Int32(process), kill(number, 0) != 0, errno == ESRCH else {
                continue
            }
            try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
        }
    }()

    /// The URL of a name in it.
    func url(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// Writes a file in it.
    @discardableResult func write(_ data: Data, to name: String) throws -> URL {
        let file = url(name)
        try data.write(to: file)
        return file
    }

    /// Sets an old modification date, so that a change of the file shows.
    func age(_ file: URL) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)],
            ofItemAtPath: file.path)
    }

    /// The names in it, sorted, including hidden ones.
    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? []
    }
}
