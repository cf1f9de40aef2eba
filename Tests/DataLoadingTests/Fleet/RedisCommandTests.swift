// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingFleet
import Testing

@Suite struct RedisCommandTests {
    @Test func `a command is an array of strings, whatever is in them`() {
        let command = RedisCommand("SET", "", "\r\n\0\u{FF}")
        let expected =
            Array("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$5\r\n".utf8)
            + [0x0D, 0x0A, 0, 0xC3, 0xBF, 0x0D, 0x0A]
        #expect(command.encoded == expected)
        #expect(command.size == expected.count)
        let word = String(repeating: "x", count: 1_234)
        let long = RedisCommand(words: Array(repeating: word, count: 12))
        #expect(long.size == long.encoded.count)
    }

    @Test func `the description of a command shows no argument`() {
        let command = RedisCommand("AUTH", "secret")
        #expect("\(command)" == "AUTH with 1 arguments")
        var dumped = ""
        dump(command, to: &dumped)
        #expect(!dumped.contains("secret"))
    }

    @Test func `a script is run by its name or by its text`() {
        let script = RedisScript(
            "letters", "abc", digest: "a9993e364706816aba3e25717850c26c9cd0d89d")
        let remembered = script.remembered(keys: ["k"], arguments: ["1", "2"])
        #expect(remembered.words == ["EVALSHA", script.digest, "1", "k", "1", "2"])
        let whole = script.whole(keys: [], arguments: [])
        #expect(whole.words == ["EVAL", "abc", "0"])
    }
}
