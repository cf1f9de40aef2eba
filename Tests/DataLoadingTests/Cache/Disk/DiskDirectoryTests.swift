// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingSupport
import DataLoadingTesting
import DataLoadingTransport
import Dispatch
import Foundation
import Testing

/// Who may use the directory of a cache.
@Suite struct DiskDirectoryTests {
    private let bed = DiskBed()

    @Test func `folders have mode 0700 and files 0600, whatever the umask`() async throws {
        // The umask is that of the whole process.
        await #expect(processExitsWith: .success) { [path = bed.directory.path as String] in
            umask(0o277)
            let files = try DiskFiles(URL(fileURLWithPath: path), DiskBed.settings())
            try files.store(NumberedResponse(path: "/a", number: 2))
        }
        let files = try bed.files()
        let entry = try #require(bed.entries.first)
        for path in [".", DiskDirectory.entries, String(entry.dropLast(67))] {
            #expect(try files.state.directory.status(path).st_mode & 0o7777 == 0o700)
        }
        #expect(try files.state.directory.status(entry).st_mode & 0o7777 == 0o600)
    }

    @Test
    func `a directory that others may write to is refused, and one that they may read is closed`()
        throws
    {
        let url = bed.directory
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        for mode in [0o777, 0o770, 0o702] as [mode_t] {
            chmod(url.path, mode)
            #expect(
                throws: DataLoaderError.invalidConfiguration(
                    reason: "the directory of the cache: others may write to it")
            ) {
                try ResponseCache.disk(at: url)
            }
        }
        chmod(url.path, 0o755)
        _ = try ResponseCache.disk(at: url)
        var status = stat()
        stat(url.path, &status)
        #expect(status.st_mode & 0o777 == 0o700)
    }

    @Test func `a directory that cannot be made is an error`() throws {
        let file = try bed.temporary.write(Data(), to: "file")
        for url in [file, file.appendingPathComponent("below"), testURL("http://origin.test/")] {
            do {
                _ = try ResponseCache.disk(at: url)
                Issue.record("a cache")
            } catch {
                guard case .invalidConfiguration = error.kind else {
                    Issue.record("\(error)")
                    return
                }
            }
        }
        _ = try ResponseCache.disk(at: bed.temporary.url("some/way/down"))
    }
}
