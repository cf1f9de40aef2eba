// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading
import Dispatch
import Foundation

/// Checks that an authoriser keeps the contract of `Authoriser`.
///
/// ```swift
/// try await checkAuthoriser(authoriser, for: DataLoaderRequest(url: url))
/// ```
/// The check asks the authoriser about `request`, which it must authorise, about requests to other
/// hosts and about plain http. It tells the authoriser of a 401, and resets it at the end. Nothing is
/// sent, unless the authoriser sends something itself.
///
/// - Parameters:
///   - authoriser: The authoriser; it has no credentials of this process any more after the reset.
///   - request: A request by https, without body, that the authoriser adds something to.
///   - limit: The real time that one call may take; default 5 seconds.
/// - Throws: `ContractViolations`, with one sentence for each rule that is broken.
public func checkAuthoriser(
    _ authoriser: any Authoriser, for request: DataLoaderRequest, limit: Duration = .seconds(5)
) async throws {
    let contract = AuthoriserContract(authoriser, request, limit)
    await contract.check()
    try contract.report.end()
}

/// The steps of the check of one authoriser.
private struct AuthoriserContract: Sendable {
    /// What an authoriser made of a request.
    private enum Answer: Sendable {
        case unchanged
        case request(DataLoaderRequest)
        case refused
        /// It did not come in time, and the report says so.
        case none
    }

    let report = ContractReport()
    private let authoriser: any Authoriser
    private let request: DataLoaderRequest
    private let limit: TimeLimit

    init(_ authoriser: any Authoriser, _ request: DataLoaderRequest, _ limit: Duration) {
        self.authoriser = authoriser
        self.limit = TimeLimit(limit)
        var request = request
        request.method = .post
        request.body = .data(Data("contract".utf8))
        request.headers["X-Contract"] = "kept"
        self.request = request
    }

    func check() async {
        await checkCancellation()
        guard report.isClean, let sent = await authorised() else { return }
        checkCopy(sent, of: request)
        checkIdentifier(secrets: secrets(in: sent))
        await checkOtherHosts()
        await checkThreads()
        await checkRecovery(sent)
        let isReset: Void? = await limit.runTask({ await authoriser.reset() })
        report.expect(isReset != nil, "reset() does not return in time.")
    }

    /// The request as the authoriser wants it sent.
    private func authorised() async -> DataLoaderRequest? {
        switch await answer(to: request) {
        case .request(let sent): return sent
        case .none: return nil
        case .unchanged, .refused:
            report.note("The authoriser does not authorise \(request), which the check needs.")
            return nil
        }
    }

    private func answer(to request: DataLoaderRequest) async -> Answer {
        guard let answer = await ask(request) else { return .none }
        switch answer {
        case .unchanged: return .unchanged
        case .use(let sent): return .request(sent)
        case .refuse: return .refused
        case .later(let body):
            let result = await limit.runTask({ await Result.catching(body) })
            switch result {
            case .success(let sent)?: return .request(sent)
            case .failure?: return .refused
            case nil:
                report.note("The function of a .later answer does not return in time.")
                return .none
            }
        }
    }

    private func ask(_ request: DataLoaderRequest) async -> Authorisation? {
        let answer = await limit.runBlocking { authoriser.authorise(request) }
        if answer == nil { report.note("authorise(_:) blocks: it does not return in time.") }
        return answer
    }

    private func checkCancellation() async {
        guard case .later(let body)? = await ask(request) else { return }
        let end: Void? = await limit.runTask({
            let task = Task { await Result.catching(body) }
            task.cancel()
            _ = await task.value
        })
        report.expect(end != nil, "The function of a .later answer ignores its cancelled task.")
    }

    private func checkCopy(_ sent: DataLoaderRequest, of asked: DataLoaderRequest) {
        report.expect(
            sent.uniqueIdentifier == asked.uniqueIdentifier,
            "The authoriser returns a new request instead of a changed copy of the given one.")
        report.expect(sent.method == asked.method, "The authoriser changes the method.")
        let bodies = [sent, asked].map { request -> Data? in
            if case .data(let body)? = request.body { body } else { nil }
        }
        report.expect(bodies[0] == bodies[1], "The authoriser changes the body.")
        let places = [sent, asked].map { request -> [String?] in
            [request.url.scheme, request.url.host(), request.url.path]
        }
        report.expect(
            places[0] == places[1] && sent.url.port == asked.url.port,
            "The authoriser changes the scheme, the host, the port or the path of the URL.")
        let keepsFields = asked.headers.fields.allSatisfy {
            sent.headers.values(for: $0.name).contains($0.value)
        }
        report.expect(keepsFields, "The authoriser drops header fields of the request.")
    }

    /// The values that the authoriser added, and the last words of these.
    private func secrets(in sent: DataLoaderRequest) -> [String] {
        let added = sent.headers.fields.filter {
            !request.headers.values(for: $0.name).contains($0.value)
        }
        return added.flatMap { field in
            [field.value] + field.value.split(separator: " ").suffix(1).map { String($0) }
        }
    }

    private func checkIdentifier(secrets: [String]) {
        let shown = authoriser.identifier
        report.expect(
            !secrets.contains { $0.utf8.count > 3 && shown.contains($0) },
            "The identifier, which is a name for logs, contains what is added to requests.")
    }

    private func checkOtherHosts() async {
        let host = request.url.host() ?? ""
        let domain = host.split(separator: ".").suffix(2)
        // On the same port, so that the scheme alone is wrong.
        var plain = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
        plain?.scheme = "http"
        let urls = [
            ("https://other.invalid/", "another host"),
            ("https://\(host).other.invalid/", "a host that begins like its own"),
            ("https://other.invalid/\(host)?host=\(host)", "a host whose path names its own"),
            ("https://not\(domain.joined(separator: "."))/", "a host that ends like its own"),
            (plain?.string ?? "", "plain http"),
        ]
        for (text, place) in urls {
            guard let url = URL(string: text) else { continue }
            var foreign = DataLoaderRequest(url: url)
            foreign.headers["X-Contract"] = "kept"
            guard case .request(let sent) = await answer(to: foreign) else { continue }
            let isUntouched = sent.url == url && sent.headers.fields.map(\.value) == ["kept"]
            report.expect(isUntouched, "The authoriser adds something to a request to \(place).")
        }
    }

    /// Asks about different requests on several threads at once, as several factories do.
    private func checkThreads() async {
        let ended: Void? = await limit.runBlocking {
            // Threads of its own: the pool may have one thread only, on a busy or small machine.
            let threads = DispatchGroup()
            for thread in 0..<4 {
                threads.enter()
                Thread.detachNewThread {
                    for round in 0..<50 { checkAnswer(to: "\(thread)-\(round)") }
                    threads.leave()
                }
            }
            threads.wait()
        }
        report.expect(ended != nil, "authorise(_:) blocks when several threads call it at once.")
    }

    /// Asks about a request with a path of its own.
    private func checkAnswer(to path: String) {
        var asked = request
        asked.url.append(path: path)
        guard case .use(let sent) = authoriser.authorise(asked) else { return }
        report.expect(
            sent.url.path == asked.url.path,
            "Asked on several threads, the authoriser returns the request of another call.")
    }

    private func checkRecovery(_ sent: DataLoaderRequest) async {
        let response = DataLoaderResponse(
            request: sent, error: .status(.unauthorised), statusCode: .unauthorised,
            resolvedURL: sent.url)
        guard
            let isWorthwhile = await limit.runBlocking({ authoriser.recover(sent, from: response) })
        else { return report.note("recover(_:from:) blocks: it does not return in time.") }
        // The answer may be a refusal; that it comes is what matters.
        if isWorthwhile { _ = await answer(to: request) }
    }
}

extension Result where Success == DataLoaderRequest, Failure == any Error {
    fileprivate static func catching(
        _ body: @Sendable () async throws -> DataLoaderRequest
    ) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
