// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation

/// A service on a scripted transport, and the queue of its observers.
struct AdapterBed {
    let transport: ScriptedTransport
    let service: DataLoaderService
    let loader: DataLoader
    let queue = DispatchQueue(label: "adapters.test")

    init(
        _ answers: [ScriptedAnswer] = [], otherwise fallback: ScriptedAnswer = .hold,
        wrapping wrap: (any Transport) -> any Transport = { $0 },
        configuring configure: (inout DataLoaderService.Configuration) -> Void = { _ in }
    ) {
        transport = ScriptedTransport(answers, otherwise: fallback)
        var configuration = DataLoaderService.Configuration()
        configuration.transport = wrap(transport)
        configuration.retry.timer = ExponentialTimer(
            initialTime: .milliseconds(1), maxTime: .milliseconds(1))
        configure(&configuration)
        service = DataLoaderService(configuration: configuration)
        loader = service.makeFactory().makeDataLoader()
    }

    /// The error of a load; nil when it succeeded.
    func error(of request: DataLoaderRequest) async -> DataLoaderError? {
        do {
            let response = try await loader.response(for: request)
            return response.error
        } catch {
            return error as? DataLoaderError
        }
    }

    /// Performs a load, and cancels it when its attempt runs and has a head.
    func cancel(_ request: DataLoaderRequest) async {
        let delegate = RecordingDelegate()
        let loader = service.makeFactory().makeDataLoader(delegate: delegate)
        let started = transport.attempts.count
        let token = loader.perform(request)
        await transport.attempts(started + 1)[started].sendHead(status: 200)
        token.cancel()
        _ = await delegate.outcomes(1)
    }

    /// Ends the service; every report was delivered then.
    func end() async {
        await service.shutDown(gracePeriod: .zero)
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
    }
}

extension DataLoaderRequest {
    /// A request to a host of the tests, with a query that must not be shown.
    static func make(
        _ path: String = "/feed", host: String = "api.test", source: String? = "feed"
    ) -> DataLoaderRequest {
        let url = URL(string: "https://\(host)\(path)?token=s3cret") ?? URL(filePath: "/")
        var request = DataLoaderRequest(url: url)
        request.sourceIdentifier = source
        request.headers["X-Key"] = "s3cret"
        return request
    }
}
