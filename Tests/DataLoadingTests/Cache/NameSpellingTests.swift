// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingCache
import DataLoadingSupport
import DataLoadingTransport
import Testing

/// Texts that are equal as `String` and have other bytes, where they tell users or responses apart.
@Suite struct NameSpellingTests {
    private let composed = "caf\u{e9}"
    private let decomposed = "cafe\u{301}"

    @Test func `Swift takes the two spellings for one text`() {
        #expect(composed == decomposed)
    }

    @Test func `they name two partitions of a cache`() {
        let partition = CacheKey.Partition.named(NameBytes(composed))
        #expect(partition == .named(NameBytes(composed)))
        #expect(partition != .named(NameBytes(decomposed)))
    }

    @Test func `they name two requests to share`() throws {
        let keys = try [composed, composed, decomposed].map { name in
            let request = DataLoaderRequest.make { $0.coalescing = .key(name) }
            return try #require(SharedLoadKey(request, RequestTarget(request.url)))
        }
        #expect(keys[0] == keys[1])
        #expect(keys[0] != keys[2])
    }

    @Test func `they are two validators of a download`() throws {
        let validator = try #require(StrongValidator(of: ["ETag": "\"\(composed)\""]))
        #expect(validator.matches(["ETag": "\"\(composed)\""]))
        #expect(!validator.matches(["ETag": "\"\(decomposed)\""]))
    }

    @Test func `they choose two variants of a response`() throws {
        let variant = try #require(VariantKey(["Vary": "X-User"], request: ["X-User": composed]))
        #expect(variant.matches(["X-User": composed]))
        #expect(!variant.matches(["X-User": decomposed]))
        #expect(!variant.matches([:]))
    }
}
