// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// A file sink that knows the hash of its file.
@Suite struct FileDigestTests {
    private typealias Bed = ResumedFileBed
    private let bed = ResumedFileBed()
    private static let digest = SHA256Tests.hex(patternBytes(100))

    private func request(_ sha256: String, resumes: Bool) -> DataLoaderRequest {
        .make {
            $0.responseSink = .file(
                bed.destination, resumesAcrossRestarts: resumes, sha256: sha256)
        }
    }

    @Test(arguments: [true, false])
    func `a body with the hash of its request becomes the file`(resumes: Bool) async {
        for digest in [Self.digest, Self.digest.uppercased()] {
            let load = await bed.load(request(digest, resumes: resumes), [Bed.whole])
            #expect(load.error == nil)
            #expect(bed.content == patternBytes(100))
            #expect(bed.directory.names == ["file"])
        }
    }

    @Test(arguments: [true, false])
    func `a body with another hash leaves the old file and nothing else`(resumes: Bool) async throws
    {
        try bed.directory.write(Data("old".utf8), to: "file")
        let other = ScriptedAnswer.respond(
            status: 200, headers: ["ETag": "\"v1\""], body: patternBytes(100, from: 1))
        let load = await bed.load(request(Self.digest, resumes: resumes), [other])
        #expect(load.error == .digestMismatch)
        #expect(load.error?.mayHaveBeenProcessed == true)
        #expect(load.error?.phase == .readingBody)
        #expect(load.response?.bodyFile == nil)
        #expect(bed.content == Data("old".utf8))
        #expect(bed.directory.names == ["file"])
    }

    @Test func `the hash of a continued file covers its part`() async throws {
        let request = request(Self.digest, resumes: true)
        for damage in [0, 20, 38, 39] {
            await bed.leavePart(40, Bed.tagged, request)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: bed.place.part))
            try handle.seek(toOffset: UInt64(damage))
            try handle.write(contentsOf: Data([patternBytes(1, from: damage)[0] ^ 1]))
            try handle.close()
            let next = await bed.load(request, [Bed.rest(from: 39)])
            #expect(next.ranges == ["bytes=39-"])
            // The last byte of the part is replaced by the server's.
            #expect(next.error == (damage == 39 ? nil : .digestMismatch))
            #expect(bed.directory.names == (damage == 39 ? ["file"] : []))
        }
        #expect(bed.content == patternBytes(100))
    }

    @Test func `a body that starts over is hashed from its start`() async {
        let retried = self.request(Self.digest, resumes: false)
        var request = retried
        request.retryPolicy = .immediately(maximumRetries: 2)
        request.resumesBrokenBodies = false
        let load = await bed.load(request, [Bed.breaks(after: 40), Bed.whole])
        #expect(load.error == nil)
        #expect(bed.content == patternBytes(100))
    }

    @Test func `a text that is no hash is refused before anything is sent`() async {
        let digit = String(repeating: "0", count: 63)
        for text in ["", "00", digit, digit + "g", digit + "00", digit + " ", "0x" + digit] {
            for resumes in [true, false] {
                let load = await bed.load(request(text, resumes: resumes), [Bed.whole])
                #expect(load.error == .invalidRequest(.setting(name: "responseSink")))
                #expect(load.sent.isEmpty)
            }
        }
        #expect(bed.directory.names.isEmpty)
    }
}
