// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

extension Authoriser {
    /// What it makes of a request, at once or later.
    func answer(to request: DataLoaderRequest) async throws -> DataLoaderRequest {
        switch authorise(request) {
        case .unchanged: request
        case .use(let authorised): authorised
        case .refuse(let error): throw error
        case .later(let body): try await body()
        }
    }
}
