// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// The answer of the interceptors of a load.
struct InterceptedAnswer: Sendable {
    let result: Result<DataLoaderResponse, DataLoaderError>
    /// The sum over the loads inside that have ended by now.
    let metrics: LoadMetrics

    init(_ result: Result<DataLoaderResponse, DataLoaderError>, _ metrics: LoadMetrics) {
        self.result = result
        self.metrics = metrics
    }
}

extension Load {
    /// Calls the interceptors of the load's factory.
    func intercept(_ epoch: Int) {
        guard let interceptors else { return }
        guard interceptors.enter() else { return handle(.overloaded) }
        let interception = Interception(self, interceptors, epoch: epoch)
        handle(.interceptionBegan(interception, epoch: epoch))
        interception.begin()
    }

    /// Returns a request for a load inside, as an interceptor gave it.
    func inside(_ request: DataLoaderRequest) -> DataLoaderRequest {
        var whole = request
        whole.chunks = false
        // The sink is the owner's. An option that is set keeps loads from sharing a request.
        let sink = self.request.sinkOfWhole
        if sink != nil || whole.sinkOfWhole != nil { whole.responseSink = sink ?? .memory }
        if let deadline {
            let remaining = deadline - runtime.timerQueue.now
            whole.timeout = min(request.timeout ?? remaining, remaining)
        }
        return whole
    }
}

extension LoadFacts {
    /// Takes the answer of the interceptors; returns the error with which the load ends.
    mutating func take(_ answer: InterceptedAnswer) -> DataLoaderError? {
        switch answer.result {
        case .success(let response): take(response)
        case .failure(let error): error
        }
    }

    private mutating func take(_ response: DataLoaderResponse) -> DataLoaderError? {
        // A load inside has a higher number than the one that it is inside of.
        let inside = response.metrics
        count { $0.source = inside.load <= $0.load ? .interceptor : inside.source }
        if let url = response.resolvedURL { base.url = url }
        if let status = response.statusCode {
            head = ResponseHead(status: status, headers: response.headers)
        }
        if let error = response.error, !error.isWholeResponse { return error }
        guard let status = response.statusCode else {
            return .interceptor(reason: "a response without a status")
        }
        body = traits.isStreaming && status.isSuccess ? nil : response.body ?? Data()
        guard !status.isSuccess else { return nil }
        let error = DataLoaderError.status(status)
        // The error of a load inside also knows why there was no further attempt.
        return response.error == error ? response.error : error
    }
}

extension DataLoaderRequest {
    /// The sink of a load that is delivered whole; nil when the body is kept in memory.
    var sinkOfWhole: ResponseSink? {
        guard hasOptions, !chunks else { return nil }
        let sink = responseSink
        if case .memory = sink.kind { return nil }
        return sink
    }
}
