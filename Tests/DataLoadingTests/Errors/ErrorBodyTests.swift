// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoadingCurl
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The body of a response with an error status, and the errors below an error.
@Suite struct ErrorBodyTests {
    private struct Full: Error {}

    private static let body = Data(#"{"message":"no such feed"}"#.utf8)

    @Test func `the error of a refused status has the body that the server sent`() async throws {
        let bed = TestBed(otherwise: .respond(status: 422, body: Self.body))
        let call = bed.loader.request(testURL("http://origin.test/")).validateStatusCode()
        let thrown = await #expect(throws: DataLoaderError.self) {
            try await call.responseData()
        }
        #expect(thrown == .status(HTTPStatus(rawValue: 422)))
        #expect(thrown?.body == Self.body)
        let response = try await bed.loader.response(for: .make())
        #expect(response.error?.body == Self.body)
        #expect(response.error?.stopReason == .permanent)
    }

    @Test func `a success that a validator refuses is thrown with its body`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200, body: Self.body))
        let call = bed.loader.request(testURL("http://origin.test/")).validateStatusCode(in: [204])
        let thrown = await #expect(throws: DataLoaderError.self) {
            try await call.responseData()
        }
        #expect(thrown == .status(.ok))
        #expect(thrown?.body == Self.body)
        #expect(thrown?.context?.attempts == 1)
    }

    @Test func `an error keeps 64 KiB of a body, and an observer gets none of it`() async throws {
        let large = patternBytes(100_000)
        let bed = TestBed(otherwise: .respond(status: 500, body: large))
        let response = try await bed.loader.response(for: .make())
        #expect(response.body == large)
        #expect(response.error?.body == large.prefix(65_536))
        let seen = await bed.observer.entries(1)[0].response
        #expect(seen.error == .status(.internalServerError))
        #expect(seen.error?.body == nil)
    }

    @Test func `no description of a refused status shows the body`() async throws {
        let bed = TestBed(otherwise: .respond(status: 422, body: Data("canary".utf8)))
        let response = try await bed.loader.response(for: .make())
        let error = try #require(response.error)
        var dumped = ""
        dump(error, to: &dumped)
        dump(response, to: &dumped)
        for text in ["\(error)", "\(response)", error.localizedDescription, dumped] {
            #expect(!text.contains("canary"), "\(text)")
        }
    }

    @Test func `the error of a sink is below the error of its load`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200, body: Self.body))
        let error = await bed.loader.failure(
            of: .make { $0.responseSink = .closure { _ in throw Full() } })
        #expect(error?.name == "response_sink")
        #expect(error?.underlyingError is Full)
        #expect("\(error.map { "\($0)" } ?? "")".contains("the closure threw Full"))
    }

    @Test func `the error of a transport is below the error of its load`() async throws {
        let cause = LibcurlError(code: 35, message: "alert")
        let bed = TestBed(otherwise: .run { $0.fail(.tls, underlyingError: cause) })
        let error = await bed.loader.failure(of: .make())
        #expect(error?.underlyingError as? LibcurlError == cause)
        #expect(error?.context?.attempts == 1)
    }

    #if canImport(Glibc) || canImport(Musl)
        @Test func `the error of a body's provider or file is below the error of its load`() {
            func failure(_ body: RequestBody) -> DataLoaderError? {
                do throws(DataLoaderError) {
                    _ = try body.openSource()
                    return nil
                } catch {
                    return error
                }
            }
            let provider = failure(.stream(length: nil) { throw Full() })
            #expect(provider?.underlyingError is Full)
            let file = failure(.file(URL(fileURLWithPath: "/nonexistent/file")))
            #expect((file?.underlyingError as? POSIXError)?.code == .ENOENT)
        }
    #endif
}
