// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct LoadingAuthoriserTests {
    @Test func `an authoriser may load through another factory before it answers`() async {
        let bed = TestBed(otherwise: .respond(status: 200, body: Data("token".utf8)))
        let authoriser = LoadingAuthoriser(loader: bed.loader)
        let loader = bed.service.makeFactory(authorisers: [authoriser]).makeDataLoader()
        let response = try? await loader.response(for: .make("/a"))
        #expect(response?.statusCode == .ok)
        #expect(bed.transport.attempts.last?.request.headers["Authorization"] == "Bearer token")
    }
}

/// Requests a token from a server for each request.
private final class LoadingAuthoriser: Authoriser {
    private let loader: DataLoader

    init(loader: DataLoader) {
        self.loader = loader
    }

    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        .later { [loader] in
            let question = DataLoaderRequest.make("/token", host: "http://auth.test")
            let token = try await loader.response(for: question).body ?? Data()
            var authorised = request
            authorised.headers["Authorization"] = "Bearer " + String(decoding: token, as: UTF8.self)
            return authorised
        }
    }
}
