// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Why a configuration file cannot be used: the key, and what is wrong with its value.
struct ConfigurationError: Error, CustomStringConvertible {
    let file: String
    let message: String

    var description: String { "\(file): \(message)" }
}

/// Reads the configuration in a file.
enum ConfigurationFile {
    private static let largest = 1_048_576

    static func read(_ path: String) throws(ConfigurationError) -> FeedConfiguration {
        func flaw(_ message: String) -> ConfigurationError {
            ConfigurationError(file: path, message: message)
        }
        guard let file = FileHandle(forReadingAtPath: path) else { throw flaw("cannot be opened") }
        defer { try? file.close() }
        guard let data = try? file.read(upToCount: largest + 1) else {
            throw flaw("cannot be read")
        }
        guard data.count <= largest else { throw flaw("is larger than a mebibyte") }
        do {
            return try JSONDecoder().decode(FeedConfiguration.self, from: data)
        } catch {
            if let place = JSONPlace(of: data) { throw flaw("\(place): this is not JSON") }
            throw flaw((error as? DecodingError)?.message ?? "\(error)")
        }
    }
}
