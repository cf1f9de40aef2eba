// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// A command with its arguments, which are never shown: they hold keys and passwords.
struct RedisCommand: Hashable, Sendable, OpaquelyMirrored {
    /// The largest command, in bytes on the wire.
    static let maxSize = 65_536

    /// The name and the arguments.
    let words: [String]

    /// Makes a command from its name and arguments.
    init(_ words: String...) {
        self.init(words: words)
    }

    /// Makes a command from its name and arguments.
    init(words: [String]) {
        self.words = words
    }

    /// What metrics say that it does: no key is in it.
    var kind: StoreOperations.Kind {
        StoreOperations.Kind(command: words.first ?? "", script: nil)
    }

    /// At least as many bytes as the command has on the wire.
    var largestSize: Int { words.reduce(16) { $0 + $1.utf8.count + 16 } }

    /// The command on the wire: an array of strings.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(largestSize)
        bytes.append(contentsOf: "*\(words.count)\r\n".utf8)
        for word in words {
            bytes.append(contentsOf: "$\(word.utf8.count)\r\n".utf8)
            bytes.append(contentsOf: word.utf8)
            bytes.append(contentsOf: "\r\n".utf8)
        }
        return bytes
    }
}

extension RedisCommand: CustomStringConvertible {
    /// The name and the number of arguments.
    var description: String {
        "\(words.first ?? "no command") with \(max(0, words.count - 1)) arguments"
    }
}
