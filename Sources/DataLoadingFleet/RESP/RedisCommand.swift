// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// A command with its arguments, which are never shown: they hold keys and passwords.
struct RedisCommand: Hashable, Sendable, OpaquelyMirrored {
    /// The largest command, in bytes on the wire.
    static let maxSize = 65_536

    /// The name and the arguments.
    let words: [[UInt8]]

    /// Makes a command from texts.
    init(_ words: String...) {
        self.init(words: words.map { Array($0.utf8) })
    }

    /// Makes a command from its name and arguments.
    init(words: [[UInt8]]) {
        self.words = words
    }

    /// What metrics say that it does: no key is in it.
    var kind: StoreOperations.Kind {
        let name = words.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        return StoreOperations.Kind(command: name, script: nil)
    }

    /// The command on the wire: an array of strings.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(words.reduce(16) { $0 + $1.count + 16 })
        bytes.append(contentsOf: "*\(words.count)\r\n".utf8)
        for word in words {
            bytes.append(contentsOf: "$\(word.count)\r\n".utf8)
            bytes.append(contentsOf: word)
            bytes.append(contentsOf: "\r\n".utf8)
        }
        return bytes
    }
}

extension RedisCommand: CustomStringConvertible {
    /// The name and the number of arguments.
    var description: String {
        let name = words.first.map { String(decoding: $0, as: UTF8.self) } ?? "no command"
        return "\(name) with \(max(0, words.count - 1)) arguments"
    }
}
