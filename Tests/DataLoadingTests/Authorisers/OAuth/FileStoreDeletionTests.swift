// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    @testable import DataLoadingCurl
    import DataLoadingSupport
    @testable import DataLoadingAuth
    @testable import DataLoading
    import Foundation
    import Testing

    /// What a log out leaves that ends in the middle.
    @Suite struct FileStoreDeletionTests {
        private static let credentials = OAuthCredentials(
            accessToken: "canary", refreshToken: "canary-2", received: Date())

        /// Deletes where no byte of a file may be written: the signal ends the process at the first.
        private static func deleteUntilTheEnd(_ path: String) async throws {
            // On this thread, which takes the signal; those of Dispatch do not.
            let store = FileCredentialStore(
                file: URL(fileURLWithPath: path), timekeeper: SystemTimekeeper(),
                executor: { $0() })
            guard limitFiles(toLength: 0) else { return }
            try await store.updateForLogOut { _ in nil }
        }

        // An empty file would keep every later process from a login.
        @Test func `a deletion that dies in the middle leaves a file that can be read`()
            async throws
        {
            let directory = TemporaryDirectory()
            let file = directory.url("credentials.json")
            let store = FileCredentialStore(file: file)
            try await store.save(Self.credentials)
            await #expect(processExitsWith: .signal(SIGXFSZ)) { [path = file.path as String] in
                try await Self.deleteUntilTheEnd(path)
            }
            #expect(try await store.load()?.accessToken == "canary")
            try await store.save(nil)
            #expect(try await store.load() == nil)
        }
    }
#endif
