// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingFleet
import Testing

@testable import FeedDaemon

@Suite struct ArgumentsTests {
    private func options(_ words: String...) throws -> Arguments.Options? {
        guard case .run(let options) = try Arguments.parse(words) else { return nil }
        return options
    }

    @Test func `without arguments the demo runs to its end and logs loads as text`() throws {
        let options = try #require(try options())
        #expect(options == Arguments.Options(duration: nil, file: nil, log: .text))
    }

    @Test func `an option is followed by its value`() throws {
        #expect(try options("--duration", "1.5")?.duration == .milliseconds(1_500))
        #expect(try options("--config", "a.json", "--json")?.file == "a.json")
        let quiet = try #require(try options("--quiet"))
        #expect(quiet.log == nil)
        #expect(try options("--json")?.log == .json)
        #expect(try options("--operations")?.isOperated == true)
        #expect(try options()?.isOperated == false)
    }

    @Test func `the fleet is named by the URL of a Redis`() throws {
        let options = try #require(try options("--fleet", "unix:///run/redis.sock"))
        #expect(options.fleet == (try RedisEndpoint("unix:///run/redis.sock")))
        #expect(options.members == 2)
        #expect(
            try self.options("--members", "8", "--fleet", "redis://r.test")?.members == 8)
        #expect(try self.options()?.fleet == nil)
    }

    @Test func `the fleet has a user, and a password in a file`() throws {
        let options = try #require(
            try options(
                "--fleet-user", "feeds", "--fleet", "redis://r.test", "--fleet-password-file",
                "/run/redis"))
        #expect(options.fleetUser == "feeds")
        #expect(options.fleetPasswordFile == "/run/redis")
    }

    @Test(arguments: [
        ("http://r.test", "the URL does not begin with redis://, rediss:// or unix://"),
        ("redis://r.test:0", "the port is not 1 to 65535"),
        ("redis://user:secret@r.test", "the URL has user information"),
        ("redis://r.test/3", "the URL has a path or a query"),
        ("unix://redis.sock", "the path of the socket is relative, too long, or has a query"),
    ])
    func `a URL that is none of a Redis is told with its fault`(url: String, fault: String) {
        #expect(
            throws: Arguments.Mistake(message: "--fleet needs the URL of a Redis: \(fault)")
        ) { try Arguments.parse(["--fleet", url]) }
    }

    @Test func `an origin that counts takes a duration and nothing else`() throws {
        #expect(try Arguments.parse(["--origin"]) == .origin(nil))
        #expect(try Arguments.parse(["--duration", "2", "--origin"]) == .origin(.seconds(2)))
    }

    @Test func `the help is printed whatever valid arguments there are`() throws {
        #expect(try Arguments.parse(["--duration", "1", "--help"]) == .help)
        #expect(try Arguments.parse(["-h"]) == .help)
    }

    @Test(arguments: [
        ["--verbose"], ["10"], [""], ["--duration"], ["--duration", "ten"], ["--duration", "-1"],
        ["--duration", "0"], ["--duration", "nan"], ["--duration", "1e3"], ["--duration", "inf"],
        ["--duration=3"], ["--duration", "99999999999"], ["--config"], ["--config", ""],
        ["--json", "--quiet"], ["--json=x"], ["--json", "--json"],
        ["--duration", "1", "--duration", "2"], ["--fleet"], ["--fleet", ""], ["--members", "3"],
        ["--fleet", "redis://r.test", "--members", "0"], ["--origin", "--quiet"],
        ["--fleet-user", "feeds"], ["--fleet-password-file", "/run/redis"],
        ["--fleet", "redis://r.test", "--fleet-user", ""],
    ])
    func `arguments that are unknown or out of range are errors`(words: [String]) {
        #expect(throws: Arguments.Mistake.self) { try Arguments.parse(words) }
    }
}
