// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation

/// A bed whose service has a cache.
struct CacheBed {
    let cache = ResponseCache.memory()

    func bed(
        _ answers: [ScriptedAnswer], otherwise: ScriptedAnswer = .fail(.connectRefused),
        authorisers: [any Authoriser] = [], clock: ManualClock = ManualClock(),
        _ configure: (inout DataLoaderService.Configuration) -> Void = { _ in }
    ) -> TestBed {
        TestBed(answers, otherwise: otherwise, authorisers: authorisers, clock: clock) {
            $0.cache = cache
            configure(&$0)
        }
    }
}

/// A response that is fresh for a time.
func fresh(
    _ body: String = "body", _ fields: HTTPHeaders = [:], maxAge: Int = 60, status: Int = 200
) -> ScriptedAnswer {
    var headers = fields
    headers.add("max-age=\(maxAge)", for: "Cache-Control")
    return .respond(status: status, headers: headers, body: Data(body.utf8))
}

/// The body of a response as text.
func text(_ response: DataLoaderResponse) -> String {
    String(decoding: response.body ?? Data(), as: UTF8.self)
}
