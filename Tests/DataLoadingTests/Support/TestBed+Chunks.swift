// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting

extension TestBed {
    /// An iterator of a load whose head has arrived, and its attempt.
    func startedChunks() async throws -> (DataChunks.Iterator, ScriptedAttempt) {
        let iterator = loader.chunks(for: .make()).makeAsyncIterator()
        async let head = iterator.response()
        let attempt = await attempt(0)
        attempt.sendHead(status: 200)
        _ = try await head
        // The load starts on the loader's queue, and can be paused once its attempt has a handle.
        settle()
        return (iterator, attempt)
    }
}
