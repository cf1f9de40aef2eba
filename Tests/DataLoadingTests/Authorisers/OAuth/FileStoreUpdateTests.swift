// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import Foundation
import Testing

/// The step in which a store reads, has its content changed, and writes.
@Suite struct FileStoreUpdateTests {
    private let directory = TemporaryDirectory()
    private var file: URL { directory.url("credentials.json") }
    private let credentials = OAuthCredentials(
        accessToken: "a", received: Date(timeIntervalSince1970: 1_767_225_600.25))

    @Test func `an update that throws leaves the file as it is`() async throws {
        let store = FileCredentialStore(file: file)
        try await store.save(credentials)
        await #expect(throws: TestFailure.self) {
            try await store.update { _ in throw TestFailure() }
        }
        #expect(try await store.load() == credentials)
    }

    @Test func `an update that changes nothing does not write the file`() async throws {
        let store = FileCredentialStore(file: file)
        try await store.save(credentials)
        var before = stat()
        var after = stat()
        #expect(stat(file.path, &before) == 0)
        try await store.update { $0 }
        #expect(stat(file.path, &after) == 0)
        #expect(before.st_ino == after.st_ino)
    }

    @Test func `updates of several stores at once lose no change`() async throws {
        try await FileCredentialStore(file: file).save(credentials)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { [file] in
                    let store = FileCredentialStore(
                        file: file, timekeeper: SystemTimekeeper(), lockTimeout: .seconds(3_600))
                    try await store.update { present in
                        var next = try #require(present)
                        await Task.yield()
                        next.accessToken += "+"
                        return next
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(
            try await FileCredentialStore(file: file).load()?.accessToken
                == "a" + String(repeating: "+", count: 20))
    }
}
