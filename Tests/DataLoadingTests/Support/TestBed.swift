// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation

/// A service on a manual clock and a scripted transport, with a loader and what it tells.
final class TestBed: Sendable {
    let clock = ManualClock()
    let transport: ScriptedTransport
    let service: DataLoaderService
    let factory: DataLoaderFactory
    let delegate: RecordingDelegate
    let loader: DataLoader
    let observer = RecordingObserver()

    init(
        _ answers: [ScriptedAnswer] = [], otherwise: ScriptedAnswer = .hold,
        authorisers: [any Authoriser] = [], supportsChunks: Bool = true,
        bodyStream: @escaping @Sendable () -> InputStream? = { nil },
        _ configure: (inout DataLoaderService.Configuration) -> Void = { _ in }
    ) {
        transport = ScriptedTransport(answers, otherwise: otherwise)
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        configure(&configuration)
        service = DataLoaderService(configuration: configuration, clock: clock)
        factory = service.makeFactory(authorisers: authorisers)
        delegate = RecordingDelegate(supportsChunks: supportsChunks, bodyStream: bodyStream)
        loader = factory.makeDataLoader(delegate: delegate)
        service.addConsumptionObserver(observer, on: DispatchQueue(label: "observer"))
    }

    /// Returns the outcome of the only load.
    func outcome() async -> RecordingDelegate.Event? {
        await delegate.outcomes(1).first
    }
}

extension DataLoaderRequest {
    /// A request for a path of one test origin.
    static func make(
        _ path: String = "/", host: String = "http://origin.test",
        _ change: (inout DataLoaderRequest) -> Void = { _ in }
    ) -> DataLoaderRequest {
        var request = DataLoaderRequest(url: testURL(host + path), sourceIdentifier: "test")
        change(&request)
        return request
    }
}

/// A URL from text that is one.
func testURL(_ text: String) -> URL {
    URL(string: text) ?? URL(fileURLWithPath: "/not-a-url")
}
