// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples of what says how something ended.

@Suite struct OutcomeSamples {
    private func resetAndSay(_ service: DataLoaderService) async {
        let left = await service.reset()
        if !left.isEmpty { print("blocked:", left) }
    }

    private func loadAndSay(_ request: DataLoaderRequest, with loader: DataLoader) async throws {
        do {
            _ = try await loader.response(for: request)
        } catch DataLoaderError.cannotAuthenticate(let reason) {
            print(reason, "because of", reason.underlyingError as Any)
        }
    }

    @Test func `a reset and a load that cannot be authorised say what happened`() async throws {
        var configuration = DataLoaderService.Configuration()
        configuration.transport = ScriptedTransport()
        let service = DataLoaderService(configuration: configuration)
        let authoriser = TokenAuthoriser(hosts: ["origin.test"]) { _ in throw DataLoaderError.dns }
        let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
        try await loadAndSay(.make(host: "https://origin.test"), with: loader)
        await resetAndSay(service)
    }
}
