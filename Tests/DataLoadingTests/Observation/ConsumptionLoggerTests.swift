// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct ConsumptionLoggerTests {
    private static func line(
        _ format: ConsumptionLogger.Format, _ change: (inout DataLoaderResponse) -> Void = { _ in }
    ) -> String {
        var response = DataLoaderResponse(
            request: .make("/feed?page=2", host: "https://api.test"), statusCode: .ok)
        response.metrics.attempts = 2
        response.metrics.retries = 1
        response.metrics.totalTime = ms(1_234)
        response.metrics.backOffTime = ms(500)
        change(&response)
        let lines = EventRecorder<String>()
        let logger = ConsumptionLogger(format: format) { lines.record($0) }
        logger.endedRequest(with: response, bytesDownloaded: 5_000_000_000, bytesUploaded: 42)
        return lines.elements.joined()
    }

    @Test func `the text format has words and figures for people`() {
        #expect(
            Self.line(.text) == """
                test GET https://api.test/feed?… 200 attempts=2 down=5000000000 up=42 \
                time=1.234s waiting=0.5s

                """)
        let failed = Self.line(.text) { response in
            response.error = .timedOut(after: .seconds(1), mayHaveBeenProcessed: true)
            response.statusCode = nil
            response.metrics.redirects = 3
        }
        #expect(failed.contains(" - timed_out attempts=2 redirects=3 "))
    }

    @Test func `the JSON format has one object for each line`() throws {
        let line = Self.line(.json) { $0.error = .status(.notFound) }
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
        guard case .object(let object) = value else {
            Issue.record("\(line)")
            return
        }
        #expect(object["method"] == .string("GET"))
        #expect(object["url"] == .string("https://api.test/feed?…"))
        #expect(object["status"] == .number(200))
        #expect(object["outcome"] == .string("failure"))
        #expect(object["error.type"] == .string("404"))
        #expect(object["bytes.down"] == .number(5_000_000_000))
        #expect(object["resends"] == .number(1))
        #expect(object["seconds"] == .number(1.234))
        #expect(object["wait.slot"] == .number(0))
        #expect(object["wait.auth"] == .number(0))
        #expect(object["wait.backoff"] == .number(0.5))
        let cancelled = Self.line(.json) { $0.error = .cancelled }
        #expect(cancelled.contains("\"outcome\":\"cancelled\""))
        #expect(!cancelled.contains("error.type"))
        #expect(Self.line(.json).contains("\"outcome\":\"success\""))
    }

    @Test(arguments: [ConsumptionLogger.Format.text, .json])
    func `a line has the template of a URL, and not its path`(
        format: ConsumptionLogger.Format
    ) {
        let line = Self.line(format) { $0.request[option: URLTemplate.self] = "/feed/{token}" }
        #expect(line.contains("/feed/{token}"))
        #expect(!line.contains("api.test"))
    }

    // OpenTelemetry counts resends "for any reason", redirects and 401 included.
    @Test func `the log counts all resent requests and those that replaced a connection`()
        throws
    {
        let line = Self.line(.json) { response in
            response.metrics.attempts = 5
            response.metrics.redirects = 2
            response.metrics.replacedConnections = 1
        }
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
        guard case .object(let object) = value else {
            Issue.record("\(line)")
            return
        }
        #expect(object["resends"] == .number(4))
        #expect(object["retries"] == .number(1))
        #expect(object["replaced"] == .number(1))
        #expect(Self.line(.json) { $0.metrics.load = 17 }.contains("\"load\":17"))
        #expect(Self.line(.text) { $0.metrics.load = 17 }.contains(" 200 load=17 attempts=2 "))
        let none = Self.line(.json) { $0.metrics.attempts = 0 }
        #expect(none.contains("\"resends\":0"))
        #expect(
            Self.line(.text) { $0.metrics.replacedConnections = 1 }.contains(
                " attempts=2 replaced=1 down="))
    }

    @Test(
        arguments: [
            (HTTPStatus.ok, nil, "200 attempts"), (nil, .dns, "- dns attempts"),
            (.notFound, .status(.notFound), "404 attempts"),
            (.ok, .cancelled, "200 cancelled attempts"),
        ] as [(HTTPStatus?, DataLoaderError?, String)])
    func `the text format says a status once`(
        status: HTTPStatus?, error: DataLoaderError?, words: String
    ) {
        let line = Self.line(.text) { response in
            response.statusCode = status
            response.error = error
        }
        #expect(line.hasPrefix("test GET https://api.test/feed?… \(words)=2 down="))
    }

    // Any string gives exactly one line.
    @Test(arguments: [ConsumptionLogger.Format.text, .json])
    func `a log line is one line of printable text, whatever a caller's strings contain`(
        format: ConsumptionLogger.Format
    ) {
        for evil in ["a\nb", "a\r\nb", "\u{1B}[31m", "\0", "\u{7F}", "\"}\n{", "\u{2028}x\u{85}y"] {
            let line = Self.line(format) { response in
                response.request.sourceIdentifier = evil
                response.request.method = HTTPMethod(rawValue: evil)
            }
            let body = line.dropLast()
            #expect(line.last == "\n")
            #expect(!body.unicodeScalars.contains { $0.properties.generalCategory == .control })
            #expect(!body.contains { $0.isNewline })
            if format == .json {
                #expect((try? JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))) != nil)
            }
        }
    }

    @Test func `a log line names an invalid URL without showing it`() {
        let line = Self.line(.text) {
            $0.request.url = testURL("http://user:canary@h/canary?canary")
        }
        #expect(line.contains("(invalid URL)"))
        #expect(!line.contains("canary"))
    }
}
