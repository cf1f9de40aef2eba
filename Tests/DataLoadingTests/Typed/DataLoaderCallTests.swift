// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

// Modify, validate, decode and cancel in a chain; the first handler starts the load.
@Suite struct DataLoaderCallTests {
    private struct Item: Codable, Equatable {
        let name: String
    }

    private struct Refused: Error {}

    private static var json: ScriptedAnswer {
        .respond(status: 200, body: Data(#"{"name":"x","list":[1,null,true,"s"]}"#.utf8))
    }

    private static func call(_ bed: TestBed, _ path: String = "/") -> DataLoaderCall {
        bed.loader.request(testURL("http://origin.test" + path), sourceIdentifier: "call")
    }

    // MARK: Starting

    @Test func `a call starts its load with the first handler, once`() {
        let bed = TestBed(otherwise: Self.json)
        let call = Self.call(bed).modify { $0.headers["A"] = "b" }.validate { _ in }
        bed.settle()
        #expect(bed.transport.attempts.isEmpty)
        let heard = EventRecorder<Int>()
        for index in 0..<3 { call.responseData { _ in heard.record(index) } }
        bed.settle()
        #expect(bed.transport.attempts.count == 1)
        #expect(bed.transport.attempts[0].request.headers["A"] == "b")
        #expect(heard.elements == [0, 1, 2])
        #expect(bed.delegate.events.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `a call that has started cannot be modified`() {
        let bed = TestBed()
        let call = Self.call(bed)
        call.responseData { _ in }
        call.modify { $0.headers["Late"] = "x" }
        #expect(bed.transport.attempts[0].request.headers["Late"] == nil)
        #expect(throws: Never.self) { try call.modify { _ in throw Refused() } }
    }

    @Test func `a call rethrows the error of a modification and keeps its request`() {
        let bed = TestBed()
        let call = Self.call(bed)
        #expect(throws: Refused.self) {
            try call.modify { request in
                request.headers["A"] = "b"
                throw Refused()
            }
        }
        call.responseData { _ in }
        #expect(bed.transport.attempts[0].request.headers["A"] == nil)
    }

    @Test func `a call runs handlers in order on the delegate queue, each once, even late ones`() {
        let queue = DispatchQueue(label: "calls", attributes: .concurrent)
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let bed = TestBed(otherwise: Self.json, delegateQueue: queue)
        let heard = EventRecorder<Int>()
        let call = Self.call(bed)
        for index in 0..<100 {
            call.response { _ in
                #expect(DispatchQueue.getSpecific(key: key) == true)
                heard.record(index)
            }
        }
        bed.settle()
        for index in 100..<200 { call.response { _ in heard.record(index) } }
        bed.settle()
        #expect(heard.elements == Array(0..<200))
    }

    @Test func `a handler may add another handler to its call, which runs later`() {
        let bed = TestBed(otherwise: Self.json)
        let order = EventRecorder<String>()
        let call = Self.call(bed)
        call.response { _ in
            call.response { _ in order.record("inner") }
            order.record("outer")
        }
        bed.settle()
        #expect(order.elements == ["outer", "inner"])
    }

    // MARK: Validating and decoding

    @Test func `a call accepts any status unless a validator refuses it`() {
        let bed = TestBed(otherwise: .respond(status: 404, body: Data("no".utf8)))
        let heard = EventRecorder<CallResponse<Data>>()
        Self.call(bed).responseData { heard.record($0) }
        Self.call(bed).validateStatusCode().responseData { heard.record($0) }
        Self.call(bed).validateStatusCode(in: [404]).responseData { heard.record($0) }
        bed.settle()
        let results = heard.elements
        #expect(results.map(\.value) == [Data("no".utf8), nil, Data("no".utf8)])
        #expect(results[1].error as? DataLoaderError == .status(.notFound))
        #expect(results.allSatisfy { $0.response.statusCode == .notFound })
    }

    @Test func `a call runs validators in order until one throws, and none without a response`() {
        let ran = EventRecorder<Int>()
        for answer in [Self.json, .fail(.dns)] {
            let bed = TestBed(otherwise: answer)
            let heard = EventRecorder<CallResponse<Data>>()
            Self.call(bed)
                .validate { _ in ran.record(1) }
                .validate { _ in
                    ran.record(2)
                    throw Refused()
                }
                .validate { _ in ran.record(3) }
                .responseData { heard.record($0) }
            bed.settle()
            if case .fail = answer {
                #expect(heard.elements.first?.error as? DataLoaderError == .dns)
            } else {
                #expect(heard.elements.first?.error is Refused)
            }
        }
        #expect(ran.elements == [1, 2])
    }

    @Test func `a call runs a validator that another validator adds`() {
        let bed = TestBed(otherwise: Self.json)
        let call = Self.call(bed)
        let heard = EventRecorder<CallResponse<Data>>()
        call.validate { [weak call] _ in call?.validate { _ in throw Refused() } }
        call.responseData { heard.record($0) }
        bed.settle()
        #expect(heard.elements.first?.error is Refused)
    }

    @Test func `a call decodes for each handler separately and reports what cannot be decoded`() {
        let bed = TestBed([Self.json, .respond(status: 200, body: Data("{".utf8))])
        let items = EventRecorder<CallResponse<Item>>()
        let values = EventRecorder<CallResponse<JSONValue>>()
        for _ in 0..<2 {
            Self.call(bed)
                .responseDecodable { items.record($0) }
                .responseJSON { values.record($0) }
                .responseSerializable(serializer: Failing()) { #expect($0.error is Refused) }
            bed.settle()
        }
        #expect(items.elements.map(\.value) == [Item(name: "x"), nil])
        let error = items.elements.last?.error as? DataLoaderError
        #expect(error?.underlyingError is DecodingError)
        let list: JSONValue = .array([.number(1), .null, .bool(true), .string("s")])
        #expect(
            values.elements.map(\.value) == [
                .object(["name": .string("x"), "list": list]), nil,
            ])
    }

    private struct Failing: ResponseSerializer {
        func serialize(_ response: DataLoaderResponse) throws -> Int { throw Refused() }
    }

    // MARK: Ending

    @Test func `a cancelled call ends all its handlers and awaiters`() async {
        let bed = TestBed()
        let call = Self.call(bed)
        let heard = EventRecorder<CallResponse<Data>>()
        call.responseData { heard.record($0) }
        let awaiters = (0..<5).map { _ in Task { try await call.responseData() } }
        let attempt = await bed.attempt(0)
        call.cancel()
        call.cancel()
        for awaiter in awaiters {
            await #expect(throws: DataLoaderError.cancelled) { try await awaiter.value }
        }
        #expect(await heard.first(1)[0].error as? DataLoaderError == .cancelled)
        #expect(attempt.isCancelled)
        call.responseData { heard.record($0) }
        #expect(await heard.first(2)[1].error as? DataLoaderError == .cancelled)
        bed.expectNothingLeft()
    }

    @Test func `a call that was cancelled never starts`() async {
        let bed = TestBed(otherwise: Self.json)
        let call = Self.call(bed)
        call.cancel()
        let heard = EventRecorder<CallResponse<Data>>()
        call.responseData { heard.record($0) }
        #expect(await heard.first(1)[0].error as? DataLoaderError == .cancelled)
        await #expect(throws: DataLoaderError.cancelled) { try await call.response() }
        #expect(bed.transport.attempts.isEmpty)
    }

    @Test func `a call keeps its result when it is cancelled after the end`() async throws {
        let bed = TestBed(otherwise: Self.json)
        let call = Self.call(bed)
        _ = try await call.responseData()
        call.cancel()
        #expect(try await call.responseDecodable(Item.self) == Item(name: "x"))
    }

    @Test func `a call is cancelled with the task that awaits it, before and while it runs`() async
    {
        for isBefore in [true, false] {
            let bed = TestBed()
            let gate = EventRecorder<Void>()
            let task = Task {
                _ = await gate.first(1)
                return try await Self.call(bed).responseData()
            }
            if isBefore { task.cancel() }
            gate.record(())
            if !isBefore {
                _ = await bed.attempt(0)
                task.cancel()
            }
            await #expect(throws: DataLoaderError.cancelled) { try await task.value }
            #expect(bed.transport.attempts.count == (isBefore ? 0 : 1))
            bed.expectNothingLeft()
        }
    }

    @Test func `a call that is not retained ends as cancelled when its loader is released`() async {
        let bed = TestBed()
        let heard = EventRecorder<CallResponse<Data>>()
        do {
            let loader = bed.factory.makeDataLoader()
            loader.request(testURL("http://origin.test"), sourceIdentifier: nil)
                .responseData { heard.record($0) }
            _ = await bed.attempt(0)
        }
        let results = await heard.first(1)
        #expect(results.allSatisfy { $0.error as? DataLoaderError == .cancelled })
        bed.expectNothingLeft()
    }

    @Test func `a call continues when it is not retained`() async {
        let bed = TestBed(otherwise: Self.json)
        let heard = EventRecorder<Data?>()
        Self.call(bed).responseData { heard.record($0.value) }
        #expect(await heard.first(1)[0] != nil)
    }

    @Test func `a call delivers the whole body, whatever its request says`() async throws {
        let bed = TestBed(otherwise: Self.json)
        let response = try await Self.call(bed).modify { $0.chunks = true }.response()
        #expect(response.body?.isEmpty == false)
    }

    @Test func `a call allows handlers, cancellations and awaiters on many threads`() async {
        for seed in UInt64(1)...30 {
            let bed = TestBed(otherwise: seed % 2 == 0 ? Self.json : .hold)
            let call = Self.call(bed)
            let heard = EventRecorder<Int>()
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<8 {
                    group.addTask {
                        if index == 4 { return call.cancel() }
                        call.responseData { _ in heard.record(index) }
                    }
                }
            }
            call.cancel()
            #expect(await heard.first(7).count == 7)
            bed.expectNothingLeft()
        }
    }
}
