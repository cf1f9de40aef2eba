// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples in the article about bodies.

private struct Order: Encodable {
    let item: String
}

private struct Release {
    let sha256: String
}

@Suite struct BodySamples {
    private let directory = TemporaryDirectory()
    private let url = testURL("http://origin.test/")

    @Test func `the sample of request bodies builds forms, JSON and multipart bodies`() throws {
        var request = DataLoaderRequest(url: url)
        request.method = .post
        request.body = .form(["name": "Ada", "city": "London"])
        request.body = try .json(Order(item: "tea"))
        let photo = directory.url("photo.jpg")
        var form = MultipartForm()
        form.add("Holiday", for: "title")
        form.add(file: photo, for: "photo", contentType: "image/jpeg")
        request.body = .multipart(form)
        request.expectsContinue = false
        request.uploadProgress = { print($0.completed, "of", $0.total ?? 0) }
        #expect(request.expectsContinue == false)
    }

    @Test func `the sample of a file sink writes the body to the file`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200, body: Data("news".utf8)))
        let loader = bed.loader
        let destination = directory.url("news")
        var request = DataLoaderRequest(url: url)
        request.responseSink = .file(destination)
        request.maximumRetryCount = 5
        let response = try await loader.response(for: request)
        print(response.bodyFile?.path ?? "no file", response.error?.name ?? "success")
        #expect(try Data(contentsOf: destination) == Data("news".utf8))
    }

    @Test func `the sample of a download that is continued refuses another file`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200, body: Data("news".utf8)))
        let loader = bed.loader
        let destination = directory.url("news")
        let release = Release(sha256: String(repeating: "0", count: 64))
        var request = DataLoaderRequest(url: url)
        request.responseSink = .file(
            destination, resumesAcrossRestarts: true, sha256: release.sha256)
        do {
            _ = try await loader.response(for: request)
        } catch DataLoaderError.digestMismatch {
            print("not the release that was announced")
        }
        #expect(directory.names.isEmpty)
    }

    @Test func `the sample of a closure sink receives every piece of the body`() async throws {
        let sum = EventRecorder<Int>()
        let bed = TestBed(otherwise: .respond(status: 200, body: Data("news".utf8)))
        var request = DataLoaderRequest(url: url)
        request.responseSink = .closure(limit: 1_000_000) { sum.record($0.count) }
        request.downloadProgress = { print($0.completed, "of", $0.total ?? 0) }
        request.resumesBrokenBodies = false
        _ = try await bed.loader.response(for: request)
        #expect(sum.elements == [4])
    }
}
