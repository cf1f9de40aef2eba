// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Combine
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct TypedPublisherTests {
    private struct Refusal: Error {}

    private func answer(_ json: String, status: Int = 200) -> ScriptedAnswer {
        .respond(status: status, body: Data(json.utf8))
    }

    @Test func `a typed publisher publishes the decoded value`() async {
        let bed = TestBed([answer("[1,2]")])
        let probe = Probe<[Int], any Error>()
        bed.loader.publisher(for: Request<[Int]>(.make())).subscribe(probe)
        let events = await probe.completed()
        #expect(events.count == 2)
        #expect(events.first?.value == [1, 2])
        bed.expectNothingLeft()
    }

    @Test func `a typed publisher fails with the error of the load, the decoder or the function`()
        async
    {
        let bed = TestBed([
            .fail(.dns), answer("no JSON"), answer("[]", status: 404), answer("[]"),
        ])
        let probes = (0..<4).map { _ in Probe<[Int], any Error>() }
        for probe in probes.prefix(3) {
            bed.loader.publisher(for: Request<[Int]>(.make())).subscribe(probe)
            _ = await probe.completed()
        }
        bed.loader.publisher(for: Request<[Int]>(.make()) { _ in throw Refusal() })
            .subscribe(probes[3])
        _ = await probes[3].completed()
        let errors = probes.map { $0.events.last?.error }
        #expect(errors[0] as? DataLoaderError == .dns)
        #expect((errors[1] as? DataLoaderError)?.name == "undecodable")
        #expect(errors[2] as? DataLoaderError == .status(.notFound))
        #expect(errors[3] is Refusal)
        bed.expectNothingLeft()
    }

    @Test func `a publisher of a connection loads below its base URL and retains its loader`()
        async
    {
        let bed = TestBed()
        let probe = Probe<Int, any Error>()
        do {
            let connection = Connection(
                baseURL: testURL("http://origin.test/api"), headers: ["Accept": "application/json"],
                loader: bed.factory.makeDataLoader())
            connection.publisher(for: Request(Endpoint("count"))).subscribe(probe)
        }
        let attempt = await bed.attempt(0)
        #expect(attempt.request.url.path == "/api/count")
        #expect(attempt.request.headers["Accept"] == "application/json")
        attempt.give(answer("7"))
        #expect(await probe.completed().first?.value == 7)
        bed.expectNothingLeft()
    }

    @Test func `a request that cannot be made fails at the demand and sends nothing`() async {
        let bed = TestBed()
        let connection = Connection(baseURL: testURL("file:///tmp"), loader: bed.loader)
        let probe = Probe<Int, any Error>(demand: .none)
        connection.publisher(for: Request(Endpoint("count"))).subscribe(probe)
        #expect(probe.events.isEmpty)
        probe.request(.max(1))
        let events = await probe.completed()
        #expect(events.count == 1)
        #expect((events.first?.error as? DataLoaderError)?.name == "invalid_request")
        #expect(bed.transport.attempts.isEmpty)
    }

    @Test func `a call is loaded once for all subscribers, also those that come late`() async {
        let bed = TestBed()
        let call = bed.loader.request(testURL("http://origin.test/")).validateStatusCode()
        let probes = (0..<3).map { _ in Probe<DataLoaderResponse, any Error>() }
        call.publisher().subscribe(probes[0])
        call.publisher().subscribe(probes[1])
        await bed.attempt(0).respond(status: 200)
        #expect(await probes[0].completed().first?.value?.statusCode == .ok)
        #expect(await probes[1].completed().count == 2)
        call.publisher().subscribe(probes[2])
        #expect(await probes[2].completed().count == 2)
        #expect(bed.transport.attempts.count == 1)
    }

    @Test func `a call publishes what its validators, decoder and serializer make of it`() async {
        struct Count: ResponseSerializer {
            func serialize(_ response: DataLoaderResponse) throws -> Int {
                response.body?.count ?? 0
            }
        }
        let bed = TestBed([answer("[1]"), answer("[1]"), answer("[1]", status: 500)])
        func call() -> DataLoaderCall {
            bed.loader.request(testURL("http://origin.test/")).validateStatusCode()
        }
        let decoded = Probe<[Int], any Error>()
        call().publisher(decoding: [Int].self).subscribe(decoded)
        #expect(await decoded.completed().first?.value == [1])
        let serialized = Probe<Int, any Error>()
        call().publisher(serializedBy: Count()).subscribe(serialized)
        #expect(await serialized.completed().first?.value == 3)
        let refused = Probe<Int, any Error>()
        call().publisher(serializedBy: Count()).subscribe(refused)
        let error = await refused.completed().first?.error as? DataLoaderError
        #expect(error == .status(.internalServerError))
    }

    @Test func `a cancelled subscription cancels its call, and the other subscribers fail`() async {
        let bed = TestBed()
        let call = bed.loader.request(testURL("http://origin.test/"))
        let probes = (0..<2).map { _ in Probe<DataLoaderResponse, any Error>() }
        for probe in probes { call.publisher().subscribe(probe) }
        let attempt = await bed.attempt(0)
        probes[0].cancel()
        await attempt.waitUntilCancelled()
        let events = await probes[1].completed()
        #expect(events.count == 1)
        #expect(events.first?.error as? DataLoaderError == .cancelled)
        #expect(probes[0].events.isEmpty)
        #expect(call.isCancelled)
        bed.expectNothingLeft()
        // One that comes later gets the end too.
        let late = Probe<DataLoaderResponse, any Error>()
        call.publisher().subscribe(late)
        #expect(await late.completed().first?.error as? DataLoaderError == .cancelled)
    }

    @Test func `a call that the library ends fails its subscribers`() async {
        let bed = TestBed()
        let probe = Probe<DataLoaderResponse, any Error>()
        bed.loader.request(testURL("http://origin.test/")).publisher().subscribe(probe)
        _ = await bed.attempt(0)
        bed.service.invalidateAndCancel()
        let events = await probe.completed()
        #expect(events.count == 1)
        #expect(events.first?.error as? DataLoaderError == .cancelled)
        bed.expectNothingLeft()
    }
}
