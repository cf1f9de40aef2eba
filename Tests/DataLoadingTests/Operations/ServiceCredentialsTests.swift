// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingOperations
import Foundation
import Testing

@Suite struct ServiceCredentialsTests {
    private let directory = TemporaryDirectory()

    /// Writes a credential as an operator should.
    private func write(_ text: String, to name: String, mode: Int = 0o600) throws {
        let file = try directory.write(Data(text.utf8), to: name)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }

    private func reason(
        _ name: String, _ credentials: ServiceCredentials? = nil
    ) -> CredentialFileError.Reason? {
        let credentials = credentials ?? ServiceCredentials(directory: directory.url.path)
        do {
            _ = try credentials.text(name)
            return nil
        } catch {
            #expect(error.name == name)
            return error.reason
        }
    }

    @Test(arguments: [
        ("t0ken", "t0ken"), ("t0ken\n", "t0ken"), ("t0ken\n\n", "t0ken\n"),
        (" a b\r\n", " a b\r"), ("ключ\n", "ключ"),
    ])
    func `a credential is the text of a file without its last line feed`(
        file: String, text: String
    ) throws {
        try write(file, to: "token")
        #expect(try ServiceCredentials(directory: directory.url.path).text("token") == text)
    }

    @Test func `a file that was replaced is read again`() throws {
        let credentials = ServiceCredentials(directory: directory.url.path + "/")
        try write("old", to: "token")
        #expect(try credentials.text("token") == "old")
        try write("new", to: "token")
        #expect(try credentials.text("token") == "new")
    }

    @Test(arguments: [
        "", ".", "..", "../token", "a/b", "/etc/passwd", "a..b", "token\0",
        String(repeating: "x", count: 256),
    ])
    func `a name that leads elsewhere is refused`(name: String) throws {
        try write("secret", to: "token")
        #expect(reason(name) == .malformedName)
    }

    @Test func `a link may lead to a file of the directory, and not out of it`() throws {
        let outside = TemporaryDirectory()
        let secret = try outside.write(Data("secret".utf8), to: "secret")
        try write("inside", to: "data")
        func link(_ name: String, to target: String) throws {
            try FileManager.default.createSymbolicLink(
                atPath: directory.url(name).path, withDestinationPath: target)
        }
        try link("token", to: "data")
        try link("out", to: secret.path)
        try link("up", to: "../\(outside.url.lastPathComponent)/secret")
        try link("loop", to: "loop")
        #expect(try ServiceCredentials(directory: directory.url.path).text("token") == "inside")
        #expect(reason("out") == .outsideDirectory)
        #expect(reason("up") == .outsideDirectory)
        #expect(reason("loop") == .unreadable(reason: "Too many levels of symbolic links"))
        // The directory itself may be a link.
        try link("self", to: directory.url.path)
        let linked = ServiceCredentials(directory: directory.url("self").path)
        #expect(try linked.text("data") == "inside")
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o602, 0o601, 0o644])
    func `a file that is open to others is refused, but in systemd's directory`(
        mode: Int
    ) throws {
        try write("secret", to: "token", mode: mode)
        #expect(reason("token") == .openToOthers(mode: UInt32(mode)))
        let environment = ["CREDENTIALS_DIRECTORY": directory.url.path]
        let ofSystemd = OperationsConfiguration(environment: environment).credentials
        #expect(try ofSystemd?.text("token") == "secret")
    }

    @Test func `a file that is no text of a fair size is refused`() throws {
        try write("", to: "empty")
        try write("\n", to: "line")
        try write(String(repeating: "x", count: 1_048_576), to: "largest")
        try write(String(repeating: "x", count: 1_048_577), to: "large")
        try write("", to: "bytes")
        try Data([0x66, 0xC3, 0x28]).write(to: directory.url("bytes"))
        try FileManager.default.createDirectory(
            at: directory.url("folder"), withIntermediateDirectories: false)
        #expect(mkfifo(directory.url("pipe").path, 0o600) == 0)
        #expect(reason("empty") == .empty)
        #expect(reason("line") == .empty)
        #expect(reason("largest") == nil)
        #expect(reason("large") == .tooLarge)
        #expect(reason("bytes") == .notText)
        #expect(reason("folder") == .notAFile)
        #expect(reason("pipe") == .notAFile)
        #expect(reason("none") == .unreadable(reason: "No such file or directory"))
    }

    @Test(arguments: [[:], ["CREDENTIALS_DIRECTORY": ""], ["CREDENTIALS_DIRECTORY": "etc"]])
    func `without a directory of systemd there are no credentials`(
        environment: [String: String]
    ) {
        #expect(OperationsConfiguration(environment: environment).credentials == nil)
    }

    @Test func `an error names the file and neither its content nor its directory`() throws {
        try write("secret", to: "token", mode: 0o644)
        let credentials = ServiceCredentials(directory: directory.url.path)
        let error = #expect(throws: CredentialFileError.self) { try credentials.text("token") }
        #expect(
            "\(try #require(error))"
                == "the credential \"token\" is open to others, by its mode 644; 600 is allowed")
    }
}
