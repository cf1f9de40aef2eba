// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What a scripted transport does with the body of a request.
@Suite struct ScriptedBodyTests {
    private static let once = Data("once".utf8)

    private static func put(
        _ bytes: Data = once, length: Int64? = nil, retries: Int = 0
    ) -> DataLoaderRequest {
        put(.oneShot(OneShotStream(InputStream(data: bytes)), length: length), retries: retries)
    }

    private static func put(_ body: RequestBody, retries: Int = 0) -> DataLoaderRequest {
        .make {
            $0.method = .put
            $0.body = body
            $0.retryPolicy = .immediately(maximumRetries: retries)
        }
    }

    @Test func `a scripted response comes after the one-shot body, which is recorded`() async throws
    {
        let bed = TestBed(otherwise: .respond(status: 200))
        bed.loader.perform(Self.put(length: 4))
        #expect(bed.error == nil)
        let attempt = await bed.attempt(0)
        #expect(try attempt.readBody() == Self.once)
        #expect(try attempt.readBody() == Self.once)
        bed.expectNothingLeft()
    }

    /// Answers that a server gives once it has the request.
    private static let written: [ScriptedAnswer] = [
        .respond(status: 503), .fail(.connectionReset, sent: .written),
        .fail(.truncatedBody, sent: .headReceived),
        .run { attempt in
            attempt.reportSent(4, of: 4)
            attempt.fail(.connectionReset)
        },
    ]

    @Test(arguments: written.indices)
    func `the delegate is asked for another stream after a scripted attempt that wrote the body`(
        index: Int
    ) async throws {
        let asked = Locked(0)
        let delegate = RecordingDelegate(bodyStream: {
            asked.withLock { $0 += 1 }
            return InputStream(data: Data("again".utf8))
        })
        let bed = TestBed(
            [Self.written[index]], otherwise: .respond(status: 200), delegate: delegate)
        bed.loader.perform(Self.put(retries: 1))
        #expect(bed.error == nil)
        #expect(asked.withLock { $0 } == 1)
        let attempts = await bed.transport.attempts(2)
        #expect(try attempts.map { try $0.readBody() } == [Self.once, Data("again".utf8)])
        bed.expectNothingLeft()
    }

    @Test func `a scripted attempt that wrote nothing leaves the one-shot body to the next one`()
        async throws
    {
        let bed = TestBed([.fail(.connectRefused)], otherwise: .respond(status: 200))
        bed.loader.perform(Self.put(retries: 1))
        #expect(bed.error == nil)
        let attempts = await bed.transport.attempts(2)
        #expect(throws: DataLoaderError.requestBody(reason: "the attempt has ended")) {
            try attempts[0].readBody()
        }
        #expect(try attempts[1].readBody() == Self.once)
        bed.expectNothingLeft()
    }

    @Test func `a held attempt reads its one-shot body when the test asks for it`() async throws {
        let bed = TestBed()
        bed.loader.perform(Self.put())
        let attempt = await bed.attempt(0)
        #expect(try attempt.readBody() == Self.once)
        attempt.respond(status: 200)
        #expect(bed.error == nil)
        bed.expectNothingLeft()
    }

    @Test(arguments: [3, 5] as [Int64])
    func `a scripted attempt fails when its one-shot body has another length than declared`(
        length: Int64
    ) async {
        let bed = TestBed(otherwise: .respond(status: 200))
        bed.loader.perform(Self.put(length: length))
        #expect(bed.error?.name == DataLoaderError.requestBody(reason: "").name)
        #expect(bed.ended?.response?.statusCode == nil)
        bed.expectNothingLeft()
    }

    @Test func `a scripted attempt reads a body of any kind when the test asks for it`()
        async throws
    {
        let directory = TemporaryDirectory()
        let file = try directory.write(Self.once, to: "body")
        let made = Locked(0)
        let form = MultipartForm()
        let bodies: [(RequestBody, Data)] = [
            (.data(Self.once), Self.once), (.file(file), Self.once),
            (
                .stream {
                    made.withLock { $0 += 1 }
                    return InputStream(data: Self.once)
                }, Self.once
            ),
            (.multipart(form), form.bytes),
        ]
        for (body, bytes) in bodies {
            let bed = TestBed(otherwise: .respond(status: 200))
            bed.loader.perform(Self.put(body))
            #expect(bed.error == nil)
            let attempt = await bed.attempt(0)
            #expect(try attempt.readBody() == bytes)
            #expect(try attempt.readBody() == bytes)
            bed.expectNothingLeft()
        }
        #expect(made.withLock { $0 } == 1)
    }

    @Test func `a scripted attempt without a body reads none`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        bed.loader.perform(.make())
        #expect(bed.error == nil)
        #expect(try await bed.attempt(0).readBody() == nil)
    }
}
