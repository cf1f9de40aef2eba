// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import FeedDaemon

@Suite struct ArgumentsTests {
    private func options(_ words: String...) throws -> Arguments.Options? {
        guard case .run(let options) = try Arguments.parse(words) else { return nil }
        return options
    }

    @Test func `runs for ten seconds without a log when nothing is asked for`() throws {
        let options = try #require(try options())
        #expect(options == Arguments.Options(duration: .seconds(10), file: nil, log: nil))
    }

    @Test func `takes a value as a word of its own or after an equals sign`() throws {
        #expect(try options("--duration", "1.5")?.duration == .milliseconds(1_500))
        #expect(try options("--duration=3")?.duration == .seconds(3))
        #expect(try options("--config", "a.json", "--log")?.file == "a.json")
        #expect(try options("--config=b=c.json")?.file == "b=c.json")
        #expect(try options("--log")?.log == .text)
        #expect(try options("--log-json")?.log == .json)
    }

    @Test func `help comes before everything that is right`() throws {
        #expect(try Arguments.parse(["--duration", "1", "--help"]) == .help)
        #expect(try Arguments.parse(["-h"]) == .help)
    }

    @Test(arguments: [
        ["--verbose"], ["10"], [""], ["--duration"], ["--duration", "ten"], ["--duration", "-1"],
        ["--duration", "0"], ["--duration", "nan"], ["--duration", "1e3"], ["--duration", "inf"],
        ["--duration="], ["--duration", "99999999999"], ["--config"], ["--config="],
        ["--log", "--log-json"], ["--log=x"], ["--duration", "1", "--duration", "2"],
    ])
    func `refuses what it does not understand`(words: [String]) {
        #expect(throws: Arguments.Mistake.self) { try Arguments.parse(words) }
    }
}
