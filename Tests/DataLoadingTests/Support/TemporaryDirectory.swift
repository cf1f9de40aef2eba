// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A directory of a test's own, gone with it.
final class TemporaryDirectory: Sendable {
    let url: URL

    init() {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("dataloading-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// A place in it.
    func url(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// Puts a file in it.
    @discardableResult func write(_ data: Data, to name: String) throws -> URL {
        let file = url(name)
        try data.write(to: file)
        return file
    }

    /// Makes a file look as if it had been written long ago, so that a change of it shows.
    func age(_ file: URL) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)],
            ofItemAtPath: file.path)
    }

    /// The names of what is in it, sorted; hidden ones too.
    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? []
    }
}
