// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import Foundation
import Testing

/// Which requests are the same for loads that share.
@Suite struct SharedLoadKeyTests {
    private func key(
        _ change: (inout DataLoaderRequest) -> Void
    ) throws -> SharedLoadKey {
        let request = DataLoaderRequest.make {
            $0.coalescing = .sameRequest
            change(&$0)
        }
        let target = try RequestTarget(request.url)
        return try #require(SharedLoadKey(request, target))
    }

    @Test func `the same bytes with another media type are another request`() throws {
        let bytes = Data("{}".utf8)
        let json = try key { $0.body = .encoded(bytes, contentType: "application/json") }
        let again = try key { $0.body = .encoded(bytes, contentType: "application/json") }
        let text = try key { $0.body = .encoded(bytes, contentType: "text/plain") }
        let plain = try key { $0.body = .data(bytes) }
        #expect(json == again)
        #expect(Set([json, again, text, plain]).count == 3)
    }

    @Test func `a media type counts as it is sent`() throws {
        let named = try key {
            $0.headers["Content-Type"] = "application/json"
            $0.body = .encoded(Data("{}".utf8), contentType: "text/plain")
        }
        let plain = try key {
            $0.headers["Content-Type"] = "application/json"
            $0.body = .data(Data("{}".utf8))
        }
        #expect(named == plain)
    }

    // Text that is equal to Unicode is not the same credential to a server.
    @Test func `values of fields are compared by their bytes, and names without their case`() throws
    {
        let composed = try key { $0.headers["Authorization"] = "Bearer caf\u{E9}" }
        let decomposed = try key { $0.headers["Authorization"] = "Bearer cafe\u{301}" }
        let lowercased = try key { $0.headers["authorization"] = "Bearer caf\u{E9}" }
        #expect(composed != decomposed)
        #expect(composed == lowercased)
        #expect(Set([composed, decomposed, lowercased]).count == 2)
    }

    @Test func `loads with the slots of streams share among themselves`() throws {
        let stream = try key { $0.slotUse = .stream }
        let another = try key { $0.slotUse = .stream }
        let ordinary = try key { $0.slotUse = .shared }
        #expect(stream == another)
        #expect(stream != ordinary)
    }
}
