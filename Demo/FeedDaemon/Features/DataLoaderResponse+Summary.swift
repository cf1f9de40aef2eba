// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

extension DataLoaderResponse {
    /// What was loaded, in one short line.
    var summary: String {
        if let bodyFile {
            return "\(metrics.decodedBytes.bytes) in \(bodyFile.lastPathComponent)"
        }
        guard let body else { return "a stream of \(metrics.decodedBytes.bytes)" }
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: body) else {
            return Int64(body.count).bytes + (headers["Content-Type"].map { " of \($0)" } ?? "")
        }
        guard case .object(let members) = value else { return value.brief }
        let shown = members.sorted { $0.key < $1.key }.prefix(4)
        return shown.map { "\($0.key.brief): \($0.value.brief)" }.joined(separator: ", ")
    }
}

extension JSONValue {
    /// The value, or how many elements it has.
    fileprivate var brief: String {
        switch self {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .number(let number): number.figure
        case .string(let text): text.brief
        case .array(let elements): "[\(elements.count) elements]"
        case .object(let members): "{\(members.count) members}"
        }
    }
}

extension String {
    /// The beginning of a server's text, quoted, as it might contain codes for the terminal.
    fileprivate var brief: String { prefix(40).debugDescription }
}
