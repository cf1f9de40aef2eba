// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

extension DataLoader {
    /// The error of a load, if it has one.
    func failure(of request: DataLoaderRequest) async -> DataLoaderError? {
        do {
            _ = try await response(for: request)
            return nil
        } catch {
            return error as? DataLoaderError
        }
    }
}
