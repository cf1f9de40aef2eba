// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingTransport
import Testing

/// Responses that never change while they are fresh (RFC 8246).
@Suite struct ImmutableResponseTests {
    private static let tag = ("ETag", "\"1\"")

    @Test func `a soft reload does not ask for what is immutable, while it is fresh`() async {
        for (age, expected): (Duration, CacheHistory.Outcome.Way) in [
            (.seconds(1), .reused), (.seconds(3), .validated),
        ] {
            let answer = [("Cache-Control", "max-age=2, immutable"), Self.tag]
            let example = CacheCase(
                id: "cc-resp-immutable",
                steps: [
                    .init(answer: answer, pause: age),
                    .init(
                        fields: [("Cache-Control", "max-age=0")], answer: answer,
                        expected: expected),
                ])
            #expect(await example.run() == [])
        }
    }

    @Test(arguments: ["max-age=1", "min-fresh=9"])
    func `what is immutable is asked for where a caller wants a younger one`(wanted: String) async {
        let answer = [("Cache-Control", "max-age=10, immutable"), Self.tag]
        let example = CacheCase(
            id: wanted,
            steps: [
                .init(answer: answer, pause: .seconds(3)),
                .init(fields: [("Cache-Control", wanted)], answer: answer, expected: .validated),
            ])
        #expect(await example.run() == [])
    }
}
