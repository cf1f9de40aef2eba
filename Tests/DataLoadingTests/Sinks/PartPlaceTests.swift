// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The files beside a destination: their names, modes and records, and what else may be there.
@Suite struct PartPlaceTests {
    private typealias Bed = ResumedFileBed
    private let bed = ResumedFileBed()
    private static let digest = SHA256Tests.hex(patternBytes(100))

    private func tamper(_ change: (inout [String: Any]) -> Void) throws {
        let data = try Data(contentsOf: bed.place.record)
        var record = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        change(&record)
        try JSONSerialization.data(withJSONObject: record).write(to: bed.place.record)
        chmod(bed.place.record.path, 0o600)
    }

    @Test func `a part and its record are hidden files of their owner, and the file is not`()
        async throws
    {
        await bed.leavePart()
        #expect(bed.directory.names.count == 2)
        #expect(bed.directory.names.allSatisfy { $0.hasPrefix(".dataloading-resume-") })
        #expect(mode(bed.place.part) == 0o600)
        #expect(mode(bed.place.record.path) == 0o600)
        _ = await bed.load([Bed.rest(from: 39)])
        let usual = bed.directory.url("usual")
        close(open(usual.path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o666))
        #expect(mode(bed.destination.path) == mode(usual.path))
    }

    #if os(Linux)
        @Test func `a file has its usual mode although no descriptor is free at its end`() async {
            await #expect(processExitsWith: .success) {
                let bed = ResumedFileBed()
                let request = bed.request()
                let usual = bed.directory.url("usual")
                close(open(usual.path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o666))
                var sink = ResumableFileSink(
                    bed.destination, for: request, limit: nil, sha256: nil)
                _ = try sink.prepare { false }
                try sink.begin(DataLoaderResponse(request: request, statusCode: .ok))
                try sink.write(Data("all".utf8))
                let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                guard getrlimit(kind, &limit) == 0 else { exit(2) }
                let most = limit.rlim_cur
                limit.rlim_cur = 0
                guard setrlimit(kind, &limit) == 0 else { exit(3) }
                let isDone = (try? sink.commit()) != nil
                limit.rlim_cur = most
                guard setrlimit(kind, &limit) == 0, isDone else { exit(4) }
                guard bed.content == Data("all".utf8) else { exit(5) }
                guard mode(bed.destination.path) == mode(usual.path) else { exit(6) }
            }
        }
    #endif

    #if canImport(Glibc)
        // The lock goes with the name of the part: after that the record may be another load's.
        @Test func `the record of a part is removed before the part gets its name`() async throws {
            await bed.leavePart()
            let watch = inotify_init1(O_NONBLOCK | O_CLOEXEC)
            try #require(watch >= 0)
            defer { close(watch) }
            let changes = UInt32(IN_DELETE | IN_MOVED_TO)
            try #require(inotify_add_watch(watch, bed.directory.url.path, changes) >= 0)
            #expect(await bed.load([Bed.rest(from: 39)]).error == nil)
            let names = Self.names(of: watch)
            #expect(names.contains(bed.place.record.lastPathComponent))
            #expect(names.last == "file")
        }

        /// Reads the names of the files that the events are about, in their order.
        private static func names(of watch: Int32) -> [String] {
            var buffer = [UInt8](repeating: 0, count: 16_384)
            let count = read(watch, &buffer, buffer.count)
            var names: [String] = []
            var rest = buffer.prefix(max(0, count))
            // A watch, a mask, a cookie and the length of the name, of four bytes each.
            while rest.count >= 16 {
                let length = rest.dropFirst(12).withUnsafeBytes { bytes in
                    Int(bytes.loadUnaligned(as: UInt32.self))
                }
                let name = rest.dropFirst(16).prefix(length)
                names.append(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
                rest = rest.dropFirst(16 + length)
            }
            return names
        }
    #endif

    @Test func `a whole part that cannot get its name is continued by the next load`() async {
        let destination = bed.destination
        let load = await bed.load([
            .run { attempt in
                attempt.sendHead(status: 200, headers: Bed.tagged)
                // The destination was free when the load began.
                mkdir(destination.path, 0o700)
                attempt.send(patternBytes(100))
                attempt.end()
            }
        ])
        guard case .responseSink(let reason) = load.error?.kind else {
            Issue.record("\(String(describing: load.error))")
            return
        }
        #expect(reason.contains("s a directory"))
        #expect(bed.part == patternBytes(100))
        #expect(mode(bed.place.part) == 0o600)
        rmdir(destination.path)
        let next = await bed.load([Bed.rest(from: 99)])
        #expect(next.ranges == ["bytes=99-"])
        #expect(next.error == nil)
        #expect(bed.content == patternBytes(100))
        #expect(bed.directory.names == ["file"])
    }

    // Nothing would close a part that is opened after the end of its load, or unlock it.
    @Test func `a load that is over opens no part`() throws {
        var sink = ResumableFileSink(bed.destination, for: bed.request(), limit: nil, sha256: nil)
        let part = try sink.prepare { true }
        #expect(part == nil)
        #expect(bed.directory.names.isEmpty)
    }

    @Test func `a destination with a name of the maximum length can have a part`() async {
        let long = bed.directory.url(String(repeating: "n", count: 255))
        let request = DataLoaderRequest.make {
            $0.responseSink = .file(long, resumesAcrossRestarts: true)
        }
        await bed.leavePart(40, Bed.tagged, request)
        #expect(bed.directory.names.count == 2)
        #expect(await bed.load(request, [Bed.rest(from: 39)]).error == nil)
        #expect((try? Data(contentsOf: long)) == patternBytes(100))
    }

    @Test func `a part stays when leftovers of killed processes are removed`() async throws {
        await bed.leavePart()
        let dead = ".dataloading-\(UUID().uuidString).part"
        try bed.directory.write(Data("old".utf8), to: dead)
        UnfinishedFiles.forgetSearches()
        let plain = DataLoaderRequest.make { $0.responseSink = .file(bed.directory.url("plain")) }
        #expect(await bed.load(plain, [Bed.whole]).error == nil)
        #expect(!bed.directory.names.contains(dead))
        #expect(await bed.load([Bed.rest(from: 39)]).error == nil)
    }

    @Test func `a part without a record that can be trusted begins anew`() async throws {
        let place = bed.place
        let damages: [() throws -> Void] = [
            { unlink(place.record.path) },
            { try Data().write(to: place.record) },
            { try Data("{}".utf8).write(to: place.record) },
            { try Data(repeating: 0x20, count: 100_000).write(to: place.record) },
            { chmod(place.record.path, 0o666) },
            { try tamper { $0["version"] = 2 } },
            { try tamper { $0["request"] = "x" } },
            { try tamper { $0["length"] = 39 } },
            { try tamper { $0["length"] = -1 } },
            { try tamper { $0["validator"] = ["entityTag": ["_0": "\"a\r\nX: y\""]] } },
            { try tamper { $0["validator"] = ["entityTag": ["_0": "W/\"v1\""]] } },
            { try tamper { $0["validator"] = ["lastModified": ["_0": "soon"]] } },
            { chmod(place.part, 0o666) },
            { truncate(place.part, 1) },
            { truncate(place.part, 0) },
            { unlink(place.part) },
        ]
        for (index, damage) in damages.enumerated() {
            await bed.leavePart()
            try damage()
            let next = await bed.load([Bed.whole])
            #expect(next.ranges == [nil], "damage \(index)")
            #expect(next.error == nil)
            #expect(bed.content == patternBytes(100))
            #expect(bed.directory.names == ["file"])
        }
    }

    @Test func `a part that is longer than its body begins anew`() async throws {
        await bed.leavePart(100)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: bed.place.part))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("more".utf8))
        try handle.close()
        #expect(await bed.load([Bed.whole]).ranges == [nil])
        #expect(bed.content == patternBytes(100))
    }

    // After a loss of power a part may have bytes that were never written.
    @Test func `a part of before the machine was started is continued only with a hash`()
        async throws
    {
        for digest in [nil, Self.digest] {
            for boot: Any in ["another", NSNull()] {
                let request = bed.request(sha256: digest)
                await bed.leavePart(40, Bed.tagged, request)
                try tamper { $0["boot"] = boot }
                let answer = digest == nil ? Bed.whole : Bed.rest(from: 39)
                let next = await bed.load(request, [answer])
                #expect(next.ranges == [digest == nil ? nil : "bytes=39-"])
                #expect(next.error == nil)
                #expect(bed.content == patternBytes(100))
            }
        }
    }

    @Test func `what is no file of its own in place of a part ends the load before it is sent`()
        async throws
    {
        let elsewhere = try bed.directory.write(Data("secret".utf8), to: "elsewhere")
        let path = bed.place.part
        let obstacles: [() throws -> Void] = [
            {
                try FileManager.default.createSymbolicLink(
                    atPath: path, withDestinationPath: elsewhere.path)
            },
            { link(elsewhere.path, path) },
            { mkdir(path, 0o700) },
            { mkfifo(path, 0o600) },
        ]
        for obstacle in obstacles {
            try obstacle()
            let load = await bed.load([Bed.whole])
            guard case .responseSink = load.error?.kind else {
                Issue.record("\(String(describing: load.error))")
                continue
            }
            #expect(load.sent.isEmpty)
            #expect(try Data(contentsOf: elsewhere) == Data("secret".utf8))
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(bed.directory.names == ["elsewhere"])
    }

    @Test func `a link at the name of the record is not followed`() async throws {
        let elsewhere = try bed.directory.write(Data("secret".utf8), to: "elsewhere")
        try FileManager.default.createSymbolicLink(
            at: bed.place.record, withDestinationURL: elsewhere)
        await bed.leavePart()
        #expect(try Data(contentsOf: elsewhere) == Data("secret".utf8))
        #expect(await bed.load([Bed.rest(from: 39)]).error == nil)
    }

    @Test func `a destination that cannot be a file ends the load before it is sent`() async throws
    {
        let folder = bed.directory.url("folder")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let reasons = [
            bed.directory.url("missing/file"): "No such file", folder: "s a directory",
            testURL("http://origin.test/"): "not the URL of a file",
        ]
        for (place, reason) in reasons {
            let request = DataLoaderRequest.make {
                $0.responseSink = .file(place, resumesAcrossRestarts: true)
            }
            let load = await bed.load(request, [Bed.whole])
            guard case .responseSink(let said) = load.error?.kind else {
                Issue.record("\(String(describing: load.error))")
                continue
            }
            #expect(said.contains(reason), "\(said)")
            #expect(load.sent.isEmpty)
        }
        #expect(bed.directory.names == ["folder"])
    }
}

/// The permissions of a file; none when there is no file.
private func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
}
