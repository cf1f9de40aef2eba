// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct ConsumptionLineTests {
    private func line(
        _ format: ConsumptionLogger.Format, status: HTTPStatus?, error: DataLoaderError?
    ) throws -> String {
        let lines = EventRecorder<String>()
        let logger = ConsumptionLogger(format: format) { lines.record($0) }
        let url = try #require(URL(string: "http://a.test/x?key=s3cret"))
        var request = DataLoaderRequest(url: url, sourceIdentifier: "a\nb")
        request.headers["Authorization"] = "s3cret"
        let response = DataLoaderResponse(request: request, error: error, statusCode: status)
        logger.endedRequest(with: response, bytesDownloaded: 7, bytesUploaded: 5)
        return try #require(lines.elements.first)
    }

    @Test(
        arguments: [
            (HTTPStatus.ok, nil, "200 attempts"), (nil, .dns, "- dns attempts"),
            (.notFound, .status(.notFound), "404 attempts"),
            (.ok, .cancelled, "200 cancelled attempts"),
        ] as [(HTTPStatus?, DataLoaderError?, String)])
    func `a consumption line says how a load ended and contains no secret`(
        status: HTTPStatus?, error: DataLoaderError?, words: String
    ) throws {
        let line = try line(.text, status: status, error: error)
        #expect(line.hasPrefix("a?b GET http://a.test/x?… \(words)=0 down=7 up=5 "))
        #expect(line.hasSuffix("\n"))
        #expect(line.filter { $0 == "\n" }.count == 1)
        #expect(!line.contains("s3cret"))
    }

    @Test func `a consumption line is JSON when that format is set`() throws {
        let line = try line(.json, status: .notFound, error: .status(.notFound))
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(object?["error.type"] as? String == "404")
        #expect(object?["status"] as? Int == 404)
        #expect(object?["bytes.down"] as? Int == 7)
        #expect(!line.contains("s3cret"))
    }
}
