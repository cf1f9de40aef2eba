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

    /// The bytes of the command on the wire.
    var size: Int {
        func line(_ number: Int) -> Int { 3 + String(number).utf8.count }
        return words.reduce(line(words.count)) { $0 + line($1.utf8.count) + $1.utf8.count + 2 }
    }

    /// The command on the wire: an array of strings.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
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
