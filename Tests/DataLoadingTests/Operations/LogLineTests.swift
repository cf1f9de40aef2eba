// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

@Suite struct LogLineTests {
    private static func response(
        _ status: HTTPStatus? = .ok, _ error: DataLoaderError? = nil,
        _ change: (inout DataLoaderResponse) -> Void = { _ in }
    ) -> DataLoaderResponse {
        var response = DataLoaderResponse(
            request: .make("/feed?page=2", host: "https://api.test"), error: error,
            statusCode: status)
        response.metrics.load = 17
        response.metrics.attempts = 3
        response.metrics.redirects = 1
        response.metrics.totalTime = ms(1_234)
        response.metrics.admissionTime = ms(7)
        response.metrics.backOffTime = .milliseconds(500) + .microseconds(999)
        response.metrics.remoteAddress = "192.0.2.7"
        response.metrics.reusedConnection = true
        change(&response)
        return response
    }

    @Test func `an access log in JSON has the fields of a load in a fixed order`() {
        #expect(
            LogLine.text(.json, Self.response(), down: 5_000_000_000, up: 42) == """
                {"time":"2026-01-01T00:00:00.250Z","source":"test","load":17,"method":"GET",\
                "url":"https://api.test/feed?…","status":200,"outcome":"success","attempts":3,\
                "resends":2,"redirects":1,"bytes.down":5000000000,"bytes.up":42,"seconds":1.234,\
                "wait.slot":0.007,"wait.auth":0.000,"wait.backoff":0.500,"peer":"192.0.2.7",\
                "reused":true}
                """)
    }

    @Test func `an access log in logfmt has the same fields`() {
        #expect(
            LogLine.text(.logfmt, Self.response(), down: 5_000_000_000, up: 42) == """
                time=2026-01-01T00:00:00.250Z source=test load=17 method=GET \
                url="https://api.test/feed?…" status=200 outcome=success attempts=3 \
                resends=2 redirects=1 bytes.down=5000000000 bytes.up=42 seconds=1.234 \
                wait.slot=0.007 wait.auth=0.000 wait.backoff=0.500 peer=192.0.2.7 reused=true
                """)
    }

    @Test
    func `a response that no server has just sent is told from others, and no key comes twice`()
        throws
    {
        for (source, expected): (ResponseSource, String?) in [
            (.network, nil), (.cache, "cache"), (.stale, "stale"), (.coalesced, "coalesced"),
        ] {
            let response = Self.response(nil, .dns) {
                $0.metrics.source = source
                $0.request[option: TraceParent.self] = .makeRoot()
            }
            let line = LogLine.text(.logfmt, response)
            let keys = line.split(separator: " ").compactMap { $0.split(separator: "=").first }
            #expect(Set(keys).count == keys.count, "\(line)")
            let values = try Logfmt.parse(line)
            #expect(values["response.source"] == expected)
            #expect(values["source"] == "test")
        }
    }

    @Test func `a load of an authoriser is told without its URL`() throws {
        let response = Self.response { $0.metrics.isInternal = true }
        let values = try Logfmt.parse(LogLine.text(.logfmt, response))
        #expect(values["url"] == nil)
        #expect(values["url.template"] == nil)
        #expect(values["outcome"] == "success")
    }

    @Test func `a pattern stands for the path, and the number of the trace is shown`() throws {
        var request = DataLoaderRequest.make("/users/7", host: "https://api.test")
        request[option: URLTemplate.self] = "/users/{id}"
        request[option: TraceParent.self] = TraceContext(
            traceparent: "00-0bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        let response = DataLoaderResponse(request: request, statusCode: .ok)
        let values = try Logfmt.parse(LogLine.text(.logfmt, response))
        #expect(values["url"] == nil)
        #expect(values["url.template"] == "/users/{id}")
        #expect(values["trace_id"] == "0bf92f3577b34da6a3ce929d0e0e4736")
    }

    @Test(arguments: [
        (Tracing.whenAsked, false, 1, false, false), (.off, true, 1, false, false),
        (.always(ratio: 1), false, 1, true, false), (.always(ratio: 1), true, 1, true, true),
        // A load that the cache has answered: where loads are no spans, it has begun no trace.
        (.always(ratio: 1), false, 0, false, false), (.always(ratio: 0), true, 0, true, true),
    ]) func `the trace that a load begins is in its line, with the load's span where it is one`(
        tracing: Tracing, recordsLoads: Bool, attempts: Int, hasTrace: Bool, hasSpan: Bool
    ) throws {
        let tracer = Tracer(tracing, recordsLoads: recordsLoads)
        let response = Self.response { $0.metrics.attempts = attempts }
        let values = try Logfmt.parse(LogLine.text(.logfmt, response, tracer: tracer))
        let span = tracer.place(ofEnded: response.metrics.load, response.request)
        #expect((values["trace_id"]?.count == 32) == hasTrace)
        #expect(values["span_id"] == (hasSpan ? span?.own.spanID : nil))
        #expect((values["span_id"]?.count == 16) == hasSpan)
    }

    @Test(arguments: [
        "http://a.test", "https://a.test/", "https://a.test:443/x", "https://a.test:80/x#f",
        "http://a.test:8080/a=b", "http://a.test/a=b?c=d", "http://a.test/x?", "http://a.test/?y#f",
        "http://[2001:db8::1]:9/x", "http://a.test/a%22b", "HTTP://A.Test/'x'\\",
        "http://a.test/\"x\"?\"", "ftp://a.test/", "http://u@a.test/",
    ]) func `a URL is in a line as every other text of it is shown`(text: String) throws {
        for length in [0, 2_020, 2_021, 2_030, 2_040] {
            let path = "x" + String(repeating: "y", count: length)
            let url = testURL(text.replacing("x", with: path))
            let response = Self.response { $0.request.url = url }
            let shown = url.redactedText
            let values = try Logfmt.parse(LogLine.text(.logfmt, response))
            let line = Data(LogLine.text(.json, response).utf8)
            let json = try JSONSerialization.jsonObject(with: line) as? [String: Any]
            let logged = try #require(values["url"])
            #expect(json?["url"] as? String == logged)
            if shown.utf8.count <= 2_040 {
                #expect(logged == shown)
            } else {
                #expect(logged.utf8.count <= 2_048)
            }
        }
    }

    @Test(
        arguments: [
            (HTTPStatus.ok, nil, "success", nil, "200"), (nil, .dns, "failure", "dns", nil),
            (.notFound, .status(.notFound), "failure", "404", "404"),
            (.ok, .cancelled, "cancelled", nil, "200"), (nil, .reset, "failure", "reset", nil),
        ] as [(HTTPStatus?, DataLoaderError?, String, String?, String?)])
    func `an access log says how a load ended, and a cancellation is no error`(
        status: HTTPStatus?, error: DataLoaderError?, outcome: String, type: String?, code: String?
    ) throws {
        let values = try Logfmt.parse(LogLine.text(.logfmt, Self.response(status, error)))
        #expect(values["outcome"] == outcome)
        #expect(values["error.type"] == type)
        #expect(values["status"] == code)
    }

    @Test func `an access log leaves out what a load that never started does not have`() throws {
        let unstarted = DataLoaderResponse(
            request: DataLoaderRequest(url: testURL("http://a.test/")), error: .overloaded)
        let values = try Logfmt.parse(LogLine.text(.logfmt, unstarted))
        #expect(values["load"] == nil)
        #expect(values["source"] == nil)
        #expect(values["peer"] == nil)
        #expect(values["resends"] == "0")
    }

    @Test func `no query, header, body or password gets into an access log`() {
        var request = DataLoaderRequest(
            url: testURL("http://u:s3cret@a.test/x?key=s3cret#s3cret"), sourceIdentifier: "a")
        request.headers["Authorization"] = "s3cret"
        request.body = .data(Data("s3cret".utf8))
        let response = DataLoaderResponse(
            request: request, statusCode: .ok, headers: ["Set-Cookie": "s3cret"],
            resolvedURL: testURL("http://a.test/?s3cret"), body: Data("s3cret".utf8))
        #expect(!LogLine.text(.json, response).contains("s3cret"))
        #expect(!LogLine.text(.logfmt, response).contains("s3cret"))
    }

    @Test func `a logfmt reader gets back any text that a caller uses, as one line`() throws {
        try property { generator in
            let text = hostileText(using: &generator)
            let line = LogLine.text(.logfmt, Self.response { $0.request.sourceIdentifier = text })
            let value = try Logfmt.parse(line)["source"]
            // By scalar, because strings are also equal in other normal forms.
            guard let value, value.unicodeScalars.elementsEqual(shown(text).unicodeScalars) else {
                return "\(line) for \(text.debugDescription)"
            }
            return line.utf8.contains(UInt8(ascii: "\n")) ? "two lines: \(line)" : nil
        }
    }

    @Test(.enabled(if: Python.isInstalled))
    func `Python reads an access log in JSON and gets back any text that a caller uses`()
        async throws
    {
        var generator = SeededGenerator(seed: 11)
        let texts = (0..<2_000).map { _ in hostileText(using: &generator) }
        let lines = texts.map { text in
            LogLine.text(
                .json,
                Self.response { response in
                    response.request.sourceIdentifier = text
                    response.request.method = HTTPMethod(rawValue: text)
                    response.metrics.remoteAddress = text
                })
        }
        let directory = TemporaryDirectory()
        let file = try directory.write(Data((lines.joined(separator: "\n") + "\n").utf8), to: "log")
        let script = """
            import json, sys
            for line in open(sys.argv[1], newline='\\n', encoding='utf-8'):
                row = json.loads(line)
                assert row['source'] == row['method'] == row['peer'], line
                assert row['load'] == 17 and row['reused'] is True and row['seconds'] == 1.234
                print(row['source'].encode('utf-8').hex())
            """
        let output = try #require(try await Python.run(script, on: file))
        let read = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        let expected = texts.map { text in
            shown(text).utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
                .joined()
        }
        // The maximum length of a method is 64 bytes with escapes; no text here is cut.
        #expect(read.map(String.init) == expected)
    }

    @Test func `a line of an access log fits into a pipe, whatever its texts are`() throws {
        for piece in ["x", "\"", "é", "🦊", "\u{202E}", "%22"] {
            let text = String(repeating: piece, count: 5_000)
            let response = Self.response(.ok, .dns) { response in
                response.request.sourceIdentifier = text
                response.request.method = HTTPMethod(rawValue: text)
                response.request.url = testURL("http://a.test/" + text)
                response.metrics.remoteAddress = text
                response.metrics.load = .max
                response.metrics.attempts = .max
                response.metrics.redirects = .max
                response.metrics.totalTime = .seconds(Int64.max)
            }
            for format in [AccessLog.Format.json, .logfmt] {
                let line = LogLine.text(format, response, down: .max, up: .max)
                #expect(line.utf8.count < LogLine.maxLength)
                #expect(line.contains("…"))
            }
            _ = try Logfmt.parse(LogLine.text(.logfmt, response))
        }
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-0.001, "1969-12-31T23:59:59.999Z"),
            (951_782_400.5, "2000-02-29T00:00:00.500Z"),
            (.infinity, "9999-12-31T23:59:59.000Z"), (.nan, "1970-01-01T00:00:00.000Z"),
        ] as [(Double, String)])
    func `the time of a line is in UTC, to the millisecond`(seconds: Double, text: String) {
        var bytes: [UInt8] = []
        LogTime(Date(timeIntervalSince1970: seconds)).append(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }

    @Test(arguments: [AccessLog.Format.json, .logfmt])
    func `each line has its own time, also where it begins like the one before it`(
        format: AccessLog.Format
    ) {
        var memory = LineMemory()
        let seconds = [0, 0.25, 0.999, 1, 59.5, 60, 86_400.5, -0.001, -1, 0.5, .infinity, 0]
        for time in seconds.map({ LogTime(Date(timeIntervalSince1970: $0)) }) {
            var bytes = memory.begin(format, time)
            LogLine.writeRest(format, time, to: &bytes) { $0.add("load", 7) }
            #expect(Array(bytes.written) == LogLine.make(format, time: time) { $0.add("load", 7) })
        }
    }

    @Test func `a line of the same second has the start of the one before and its own fraction`() {
        var memory = LineMemory()
        let lines = [0.25, 0.5, 1].map { seconds in
            let time = LogTime(Date(timeIntervalSince1970: seconds))
            var bytes = memory.begin(.json, time)
            LogLine.writeRest(.json, time, to: &bytes) { $0.add("load", 7) }
            return String(decoding: bytes.written, as: UTF8.self)
        }
        #expect(
            lines == [
                "{\"time\":\"1970-01-01T00:00:00.250Z\",\"load\":7}\n",
                "{\"time\":\"1970-01-01T00:00:00.500Z\",\"load\":7}\n",
                "{\"time\":\"1970-01-01T00:00:01.000Z\",\"load\":7}\n",
            ])
    }
}
