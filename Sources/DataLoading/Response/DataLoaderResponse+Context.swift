// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension DataLoaderError {
    /// The error with the context of the load that it ended.
    func ending(_ request: DataLoaderRequest, _ metrics: LoadMetrics = LoadMetrics()) -> Self {
        var error = self
        error.note {
            $0.context = Context(
                load: metrics.load == 0 ? nil : metrics.load, method: request.method,
                url: request.url, attempts: metrics.attempts, retries: metrics.retries,
                time: metrics.totalTime)
        }
        return error
    }
}

extension DataLoaderResponse {
    /// The error of a load that has no whole response; nil for one of any status.
    ///
    /// An interceptor or a transport may end a load with the error of a status, and no response.
    var failure: DataLoaderError? {
        guard let error else { return nil }
        return error.isWholeResponse && statusCode != nil ? nil : error
    }

    /// The response, whatever its status; the error of a load that has no whole one.
    var whole: Result<DataLoaderResponse, DataLoaderError> {
        failure.map { .failure($0) } ?? .success(self)
    }
}
