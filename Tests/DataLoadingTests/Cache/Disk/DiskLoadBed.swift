// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingCache
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Services whose cache is on one disk, one after the other, as processes are.
struct DiskLoadBed: Sendable {
    let disk = DiskBed()
    let large = patternBytes(3_000_000)

    /// A service of a process that starts now.
    func process(
        _ answers: [ScriptedAnswer] = [], _ settings: DiskSettings = DiskBed.settings(),
        clock: ManualClock = ManualClock()
    ) throws -> (TestBed, ResponseCache) {
        let cache = try disk.cache(settings)
        let bed = TestBed(answers, otherwise: .fail(.connectRefused), clock: clock) {
            $0.cache = cache
        }
        return (bed, cache)
    }

    func fresh(_ body: Data, _ fields: HTTPHeaders = [:]) -> ScriptedAnswer {
        var headers = fields
        headers.add("max-age=60", for: "Cache-Control")
        return .respond(status: 200, headers: headers, body: body)
    }

    /// Stores a response as an earlier process did.
    func store(_ body: Data, _ fields: HTTPHeaders = [:]) async throws {
        let (bed, cache) = try process([fresh(body, fields)])
        _ = try await bed.loader.response(for: .make())
        await cache.isSettled()
        bed.expectNothingLeft()
    }

    /// Changes a byte of the only stored response.
    func damage(_ position: Int) throws {
        let path = disk.directory.appendingPathComponent(try #require(disk.entries.first))
        var bytes = try Data(contentsOf: path)
        bytes[bytes.count - large.count + position] ^= 1
        try FileManager.default.removeItem(at: path)
        try bytes.write(to: path)
    }
}
