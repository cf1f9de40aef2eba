// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingOperations
import Foundation

extension FeedConfiguration.Feature: Decodable {
    private enum Key: String, CodingKey, CaseIterable {
        case name, urls, interval, mode, file, authorised
    }

    init(from decoder: any Decoder) throws {
        let fields = try Fields<Key>(decoder)
        name = try fields.required(.name, Text.self).text
        urls = try fields.list(.urls, of: WebURL.self).map(\.url)
        guard let interval = try fields.seconds(.interval) else { throw fields.missing(.interval) }
        self.interval = interval
        isAuthorised = try fields.optional(.authorised) ?? false
        let file = try fields.optional(.file, Text.self)?.text
        switch (try fields.optional(.mode, Text.self)?.text, file) {
        case ("whole", nil), (nil, nil):
            body = .value
        case ("chunks", nil):
            body = .chunks
        case (nil, let file?):
            guard urls.count == 1 else { throw fields.error(.file, "needs exactly one URL") }
            body = .file(URL(filePath: file))
        case (_?, _?):
            throw fields.error(.file, "cannot be combined with a mode")
        case (let mode?, nil):
            throw fields.error(.mode, "must be \"whole\" or \"chunks\", not \"\(mode)\"")
        }
    }
}

extension FeedConfiguration.Credential: Decodable {
    private enum Key: String, CodingKey, CaseIterable {
        case value, environment, credential, hosts
    }

    /// Decodes a token that is known; a login cannot be described in a file.
    init(from decoder: any Decoder) throws {
        let fields = try Fields<Key>(decoder)
        let hosts = Set(try fields.list(.hosts, of: Text.self).map { $0.text.lowercased() })
        let value = try fields.optional(.value, Text.self)?.text
        let variable = try fields.optional(.environment, Text.self)?.text
        let credential = try fields.optional(.credential, Text.self)?.text
        switch (value, variable, credential) {
        case (let token?, nil, nil):
            self = .token(token, hosts: hosts)
        case (nil, nil, let name?):
            self = .token(try Self.credential(name, fields), hosts: hosts)
        case (nil, let name?, nil):
            // A token in a file is also in the backups of the file.
            guard let token = ProcessInfo.processInfo.environment[name], !token.isEmpty else {
                throw fields.error(.environment, "names a variable that is not set, \(name)")
            }
            self = .token(token, hosts: hosts)
        default:
            throw DecodingError.flaw(
                decoder.codingPath, "needs one of \"value\", \"environment\", \"credential\"")
        }
    }

    /// Reads a file of systemd's `LoadCredential=`.
    private static func credential(_ name: String, _ fields: Fields<Key>) throws -> String {
        guard let credentials = OperationsConfiguration().credentials else {
            throw fields.error(.credential, "needs LoadCredential= in a unit of systemd")
        }
        do {
            return try credentials.text(name)
        } catch {
            throw fields.error(.credential, "is of no use: \(error)")
        }
    }
}

/// A string that is not empty.
struct Text: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
        guard !text.isEmpty else {
            throw DecodingError.flaw(decoder.codingPath, "must not be empty")
        }
    }
}

/// An absolute http or https URL without user information, as the library accepts it.
struct WebURL: Decodable {
    let url: URL

    init(from decoder: any Decoder) throws {
        let (url, flaw) = Self.read(try decoder.singleValueContainer().decode(String.self))
        guard let url else { throw DecodingError.flaw(decoder.codingPath, flaw) }
        self.url = url
    }

    /// Returns the URL, or nil and what is wrong with the text.
    static func read(_ text: String) -> (URL?, flaw: String) {
        guard let parts = URLComponents(string: text), let url = URL(string: text),
            url.absoluteString == text, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return (nil, "is not a URL") }
        guard ["http", "https"].contains(parts.scheme?.lowercased()) else {
            return (nil, "must begin with http:// or https://")
        }
        guard parts.host?.isEmpty == false else { return (nil, "has no host") }
        guard parts.user == nil, parts.password == nil else {
            return (nil, "must not contain a user or password; use \"token\"")
        }
        return (url, "")
    }
}
