// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
@testable import DataLoading
import Foundation
import Testing

/// Credentials in a file that a link leads to.
@Suite struct FileStoreLinkTests {
    @Test func `a file store follows a link to a file that does not exist yet`() async throws {
        let directory = TemporaryDirectory()
        let link = directory.url("link.json")
        try FileManager.default.createSymbolicLink(
            atPath: link.path, withDestinationPath: "target.json")
        let store = FileCredentialStore(file: link)
        let credentials = OAuthCredentials(accessToken: "a", received: Date())
        try await store.save(credentials)
        #expect(directory.names == ["link.json", "target.json", "target.json.lock"])
        #expect(try await store.load()?.accessToken == "a")
    }

    @Test func `a file store follows a link upwards from the directory of the link`() async throws {
        let directory = TemporaryDirectory()
        for name in ["real", "real/inner", "real/store"] {
            try FileManager.default.createDirectory(
                at: directory.url(name), withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(
            at: directory.url("linked"), withDestinationURL: directory.url("real/inner"))
        try FileManager.default.createSymbolicLink(
            atPath: directory.url("real/inner/c.json").path,
            withDestinationPath: "../store/c.json")
        let store = FileCredentialStore(file: directory.url("linked/c.json"))
        try await store.save(OAuthCredentials(accessToken: "a", received: Date()))
        let file = directory.url("real/store/c.json")
        #expect(try await FileCredentialStore(file: file).load()?.accessToken == "a")
    }

    @Test func `a file store writes through a link, and locks the file that it leads to`()
        async throws
    {
        let directory = TemporaryDirectory()
        let target = directory.url("target.json")
        let link = directory.url("link.json")
        let credentials = OAuthCredentials(accessToken: "a", received: Date())
        try await FileCredentialStore(file: target).save(credentials)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        var newer = credentials
        newer.accessToken = "b"
        try await FileCredentialStore(file: link).save(newer)
        #expect(try await FileCredentialStore(file: target).load()?.accessToken == "b")
    }
}
