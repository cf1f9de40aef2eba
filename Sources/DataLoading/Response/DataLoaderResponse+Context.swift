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
    /// The response, whatever its status; the error of a load that has no whole one.
    var whole: Result<DataLoaderResponse, DataLoaderError> {
        guard let error, !error.isWholeResponse else { return .success(self) }
        return .failure(error)
    }
}
