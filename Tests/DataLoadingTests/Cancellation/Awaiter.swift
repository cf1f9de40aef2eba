// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation

/// The functions and sequences that await a load.
enum Awaiter: CaseIterable, Sendable {
    case response, value, send, callResponse, callData, callDecodable, callJSON, callSerializer
    case file, closure, chunks, head, lines, jsonLines, bytes, events, outcomes

    /// Whether other loads may share its load: it takes the body as a whole.
    var isWhole: Bool {
        switch self {
        case .file, .closure, .chunks, .head, .lines, .jsonLines, .bytes, .events: false
        default: true
        }
    }

    /// One for all, because making one takes longer than a load; the next run removes it.
    private static let directory = TemporaryDirectory()

    /// Loads a request, which retains a canary as a caller's object.
    func load(
        _ loader: DataLoader, _ request: DataLoaderRequest = .make(), _ canary: Canary? = nil
    ) async throws {
        var request = request
        if let canary { request[option: CanaryOption.self] = canary }
        switch self {
        case .response: _ = try await loader.response(for: request)
        case .value: try await loader.value(for: Request(request) { _ in _ = canary })
        case .send:
            let connection = Connection(baseURL: request.url, loader: loader)
            let sent = Request(Endpoint("send")) { _ in _ = canary }
            try await connection.send(sent.modified { [request] in $0 = request })
        case .callResponse: _ = try await call(loader, request, canary).response()
        case .callData: _ = try await call(loader, request, canary).responseData()
        case .callDecodable: _ = try await call(loader, request, canary).responseDecodable(Int.self)
        case .callJSON: _ = try await call(loader, request, canary).responseJSON()
        case .callSerializer:
            _ = try await call(loader, request, canary).serialized(by: WholeResponse())
        case .file:
            request.responseSink = .file(Self.directory.url(UUID().uuidString))
            _ = try await loader.response(for: request)
        case .closure:
            request.responseSink = .closure { _ in _ = canary }
            _ = try await loader.response(for: request)
        case .chunks: try await read(loader.chunks(for: request))
        case .head:
            let iterator = loader.chunks(for: request).makeAsyncIterator()
            _ = try await iterator.response()
            // Only a load without a head has not ended here.
            while try await iterator.next() != nil {}
            try Task.checkCancellation()
        case .lines: try await read(loader.lines(for: request))
        case .jsonLines: try await read(loader.jsonLines(Int.self, for: request))
        case .bytes: try await read(loader.bytes(for: request))
        case .events: try await read(loader.events(for: request))
        case .outcomes: try await awaitOutcome(of: loader, request)
        }
    }

    private func call(
        _ loader: DataLoader, _ request: DataLoaderRequest, _ canary: Canary?
    ) -> DataLoaderCall {
        loader.request(request.url).modify { $0 = request }.validate { _ in _ = canary }
    }

    /// A sequence may simply end for a task that is cancelled.
    private func read(_ sequence: some AsyncSequence) async throws {
        for try await _ in sequence {}
        try Task.checkCancellation()
    }

    /// The end of the sequence cancels no load.
    private func awaitOutcome(of loader: DataLoader, _ request: DataLoaderRequest) async throws {
        let outcomes = loader.outcomes
        let token = loader.perform(request)
        defer { token.cancel() }
        for await outcome in outcomes where outcome.token === token {
            _ = try outcome.result.get()
            return
        }
        try Task.checkCancellation()
    }
}

/// Whether an error is that of a task or a load that was cancelled.
func isCancellation(_ error: any Error) -> Bool {
    error is CancellationError || error as? DataLoaderError == .cancelled
}

private enum CanaryOption: RequestOption {
    static let defaultValue: Canary? = nil
}
