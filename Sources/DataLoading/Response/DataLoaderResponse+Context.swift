// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension DataLoaderError {
    /// The error with the context of a response that it ended.
    func ending(_ response: DataLoaderResponse) -> Self {
        let metrics = response.metrics
        var error = self
        error.note {
            $0.context = Context(
                load: metrics.load == 0 ? nil : metrics.load, method: response.request.method,
                url: response.request.url, attempts: metrics.attempts, retries: metrics.retries,
                time: metrics.totalTime)
        }
        return error
    }
}
