// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Testing

@Suite struct CacheSamples {
    @Test func `the sample of a cache in memory sets it`() {
        var configuration = DataLoaderService.Configuration()
        configuration.cache = .memory(capacity: 64 << 20)
        #expect(configuration.cache?.statistics.bytes == 0)
    }

    @Test func `the sample of a cache on disk makes its directory`() throws {
        let temporary = TemporaryDirectory()
        let directory = temporary.url("feeds")
        var configuration = DataLoaderService.Configuration()
        configuration.cache = try .disk(at: directory)
        #expect(configuration.cache?.statistics.writeFailures == 0)
        #expect(temporary.names == ["feeds"])
    }
}
