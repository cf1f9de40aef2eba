// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// The token and what becomes of it; owned by one task, so that it needs no lock.
struct Session {
    enum Message: Sendable {
        /// Add the token, and hand the request back.
        case authorise(
            DataLoaderRequest,
            answer: @Sendable (Result<DataLoaderRequest, any Error>) -> Void)
        /// The server did not like the token that this request was sent with.
        case refused(DataLoaderRequest)
        /// Forget the token, and say so.
        case forget(done: @Sendable () -> Void)
    }

    /// How long nobody tries again to fetch a token that was not to be had.
    private static let patience = Duration.seconds(1)

    let tokenURL: URL
    let loader: DataLoader
    let wire: Wire
    private var header: String?
    private var wasRefused = false
    private var failure: (error: any Error, until: ContinuousClock.Instant)?

    init(tokenURL: URL, loader: DataLoader, wire: Wire) {
        self.tokenURL = tokenURL
        self.loader = loader
        self.wire = wire
    }

    mutating func handle(_ message: Message) async {
        switch message {
        case .authorise(var request, let answer):
            do {
                request.headers["Authorization"] = try await currentHeader()
                answer(.success(request))
            } catch {
                answer(.failure(error))
            }
        case .refused(let request):
            // Loads that were sent with an older token come late, and say nothing about this one.
            guard header != nil, request.headers["Authorization"] == header else { return }
            header = nil
            wasRefused = true
            wire.note("session", "the origin refused the token (401); fetches a new one")
        case .forget(let done):
            header = nil
            done()
        }
    }

    private mutating func currentHeader() async throws -> String {
        if let header { return header }
        if let failure, failure.until > .now { throw failure.error }
        do {
            let fetched = "Bearer " + (try await fetchToken())
            header = fetched
            if wasRefused { wire.send(.tokenRenewed) }
            wasRefused = false
            return fetched
        } catch {
            // Those who stand in the queue share this failure, as they would have shared the token.
            failure = (error, .now + Self.patience)
            throw error
        }
    }

    private func fetchToken() async throws -> String {
        let request = DataLoaderRequest(url: tokenURL, sourceIdentifier: "session")
        let response = try await loader.response(for: request)
        if let error = response.error { throw error }
        return String(decoding: response.body ?? Data(), as: UTF8.self)
    }
}
