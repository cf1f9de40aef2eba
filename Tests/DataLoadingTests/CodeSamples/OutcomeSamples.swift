// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples about outcomes.

@Suite struct OutcomeSamples {
    private func resetAndSay(_ service: DataLoaderService) async {
        let left = await service.reset()
        if !left.isEmpty { print("blocked:", left) }
    }

    private func loadAndSay(_ request: DataLoaderRequest, with loader: DataLoader) async throws {
        do {
            _ = try await loader.response(for: request)
        } catch let error as DataLoaderError {
            guard case .cannotAuthenticate(let reason) = error.kind else { throw error }
            print("no access:", reason)
        }
    }

    private func loadAndTell(_ request: DataLoaderRequest, with loader: DataLoader) async throws {
        do {
            _ = try await loader.response(for: request)
        } catch DataLoaderError.cancelled {
            return
        } catch let error as DataLoaderError {
            print(error, "because of", error.stopReason?.description ?? "nothing more")
            if case .rateLimited(let wait) = error.kind { print("try again in", wait) }
        }
    }

    @Test func `the samples of outcomes report a reset and a failed authorisation`() async throws {
        var configuration = DataLoaderService.Configuration()
        configuration.transport = ScriptedTransport()
        // All tests begin at once: a deadline in real time could pass before the load continues.
        let clock = ManualClock()
        let service = DataLoaderService(configuration: configuration, clock: clock)
        let authoriser = TokenAuthoriser(hosts: ["origin.test"], clock: clock) { _ in
            throw DataLoaderError(.dns)
        }
        let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
        try await loadAndSay(.make(host: "https://origin.test"), with: loader)
        try await loadAndTell(.make(host: "https://origin.test"), with: loader)
        await resetAndSay(service)
    }
}
