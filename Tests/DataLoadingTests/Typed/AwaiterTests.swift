// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// Every function that awaits a load returns when the load ends, however it ends.
@Suite struct AwaiterTests {
    /// The functions that await a load.
    enum Surface: CaseIterable, Sendable {
        case response, value, send, callResponse, callData, callDecodable, callJSON, callSerializer
        case chunks

        func load(_ bed: TestBed, _ canary: Canary? = nil) async throws {
            let loader = bed.loader
            let call = loader.request(testURL("http://origin.test/call"))
            if let canary { call.validate { _ in _ = canary } }
            switch self {
            case .response: _ = try await loader.response(for: .make())
            case .value: try await loader.value(for: Request(.make()) { _ in _ = canary })
            case .send:
                let base = testURL("http://origin.test")
                let connection = Connection(baseURL: base, loader: loader)
                try await connection.send(Request(Endpoint("send")) { _ in _ = canary })
            case .callResponse: _ = try await call.response()
            case .callData: _ = try await call.responseData()
            case .callDecodable: _ = try await call.responseDecodable(Int.self)
            case .callJSON: _ = try await call.responseJSON()
            case .callSerializer: _ = try await call.serialized(by: WholeResponse())
            case .chunks:
                for try await _ in loader.chunks(for: .make()) {}
                // A task that is cancelled reads the end of a sequence as any other.
                try Task.checkCancellation()
            }
        }
    }

    private func isCancellation(_ error: any Error) -> Bool {
        error is CancellationError || error as? DataLoaderError == .cancelled
    }

    @Test(arguments: Surface.allCases)
    func `a cancelled task ends its load and returns, whatever it awaits`(
        surface: Surface
    ) async {
        let bed = TestBed()
        let task = Task { try await surface.load(bed) }
        let attempt = await bed.attempt(0)
        task.cancel()
        let error = await #expect(throws: (any Error).self) { try await task.value }
        #expect(error.map(isCancellation) == true)
        #expect(attempt.isCancelled)
        bed.expectNothingLeft()
    }

    @Test(arguments: Surface.allCases)
    func `a task returns when its loader or its service ends the load`(surface: Surface) async {
        for isInvalidated in [false, true] {
            let bed = TestBed()
            let task = Task { try await surface.load(bed) }
            _ = await bed.attempt(0)
            if isInvalidated {
                bed.service.invalidateAndCancel()
            } else {
                bed.loader.cancelAllLoads()
            }
            await #expect(throws: DataLoaderError.cancelled) { try await task.value }
            bed.expectNothingLeft()
        }
    }

    // In every other round the tasks are cancelled before their loads have begun, or while they
    // begin.
    @Test func `ten thousand loads that are started and cancelled leave nothing and hang nothing`()
        async
    {
        let size = 100
        let rounds = 10_000 / size / patience
        let gone = EventRecorder<Void>()
        for round in 0..<rounds {
            let bed = TestBed()
            let tasks = (0..<size).map { index in
                let surface = Surface.allCases[index % Surface.allCases.count]
                return Task { [canary = Canary(gone)] in try await surface.load(bed, canary) }
            }
            if round % 2 == 0 { await eventually { bed.service.runtime.liveLoads.live == size } }
            for task in tasks { task.cancel() }
            for task in tasks {
                if case .failure(let error) = await task.result, isCancellation(error) { continue }
                Issue.record("A load that was cancelled ended in another way.")
            }
            bed.expectNothingLeft()
        }
        // What the loads retained of their callers is released.
        #expect(await gone.first(rounds * size).count == rounds * size)
    }
}
