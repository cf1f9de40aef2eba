// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Why a configuration file is of no use: what is wrong, and where if it is at a place.
struct ConfigurationError: Error, CustomStringConvertible {
    let file: String
    let position: JSONNode.Position?
    let message: String

    /// In the form that compilers have, which editors and terminals turn into a link.
    var description: String {
        let place = position.map { ":\($0.line):\($0.column)" } ?? ""
        return "\(file)\(place): \(message)"
    }
}

/// Finds the configuration in a file.
enum ConfigurationFile {
    private static let largest = 1_048_576

    static func read(_ path: String) throws(ConfigurationError) -> FeedConfiguration {
        let text = try text(of: path)
        do throws(Misreading) {
            return try configuration(in: text)
        } catch {
            throw ConfigurationError(file: path, position: error.position, message: error.message)
        }
    }

    /// Reads a configuration from the text of a file.
    static func configuration(in text: String) throws(Misreading) -> FeedConfiguration {
        try ConfigurationReader.read(JSONReader.read(text))
    }

    private static func text(of path: String) throws(ConfigurationError) -> String {
        func error(_ message: String) -> ConfigurationError {
            ConfigurationError(file: path, position: nil, message: message)
        }
        guard let file = FileHandle(forReadingAtPath: path) else { throw error("cannot be opened") }
        defer { try? file.close() }
        guard let data = try? file.read(upToCount: largest + 1) else {
            throw error("cannot be read")
        }
        guard data.count <= largest else { throw error("is larger than a mebibyte") }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw error("is not UTF-8")
        }
        return text
    }
}
