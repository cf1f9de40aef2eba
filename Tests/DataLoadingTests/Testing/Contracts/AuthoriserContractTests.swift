// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCurl
import DataLoadingAuth
import DataLoadingSupport
import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What `checkAuthoriser` finds.
@Suite(.timeLimit(.minutes(5))) struct AuthoriserContractTests {
    private static let request = DataLoaderRequest(url: testURL("https://api.example.com/feed"))

    private static let requestWithPort = DataLoaderRequest(
        url: testURL("https://api.example.com:8443/feed"))

    @Test func `the check accepts the library's authorisers`() async throws {
        let hosts: Set = ["api.example.com"]
        let authorisers: [any Authoriser] = [
            StaticTokenAuthoriser(token: "secret", hosts: hosts),
            TokenAuthoriser(hosts: hosts) { _ in AccessToken("secret", lifetime: .seconds(600)) },
            KeyAuthoriser(),
        ]
        for authoriser in authorisers {
            try await checkAuthoriser(authoriser, for: Self.request, limit: .seconds(60))
        }
    }

    private enum Flaw: String, CaseIterable, Sendable {
        case anyHost, anyHostThatBeginsLikeIt, anyHostThatEndsLikeIt, plainHTTP, plainOnItsPort
        case newRequest, body, method, place, fields
        case nothing, refusal, blocks, blocksInRecover, ignoresCancellation, neverLater, neverReset
        case mixesThreads, tellsItsSecret

        /// Words of the violation that the check has to name.
        var words: String {
            switch self {
            case .anyHost: "to another host."
            case .anyHostThatBeginsLikeIt: "a host that begins like its own"
            case .anyHostThatEndsLikeIt: "a host that ends like its own"
            case .plainHTTP, .plainOnItsPort: "plain http"
            case .newRequest: "new request"
            case .body: "changes the body"
            case .method: "changes the method"
            case .place: "changes the scheme, the host"
            case .fields: "drops header fields"
            case .nothing, .refusal: "does not authorise"
            case .blocks: "authorise(_:) blocks"
            case .blocksInRecover: "recover(_:from:) blocks"
            case .ignoresCancellation: "ignores its cancelled task"
            case .neverLater: "later answer does not return"
            case .neverReset: "reset() does not return"
            case .mixesThreads: "another call"
            case .tellsItsSecret: "identifier"
            }
        }

        var isWaitedFor: Bool {
            [.blocks, .blocksInRecover, .ignoresCancellation, .neverLater, .neverReset]
                .contains(self)
        }
    }

    @Test(arguments: Flaw.allCases)
    private func `the check names the rule that an authoriser breaks`(flaw: Flaw) async {
        let authoriser = FlawedAuthoriser(flaw)
        let error = await #expect(throws: ContractViolations.self) {
            try await checkAuthoriser(
                authoriser, for: flaw == .plainOnItsPort ? Self.requestWithPort : Self.request,
                limit: flaw.isWaitedFor ? .seconds(10 * min(patience, 6)) : .seconds(60))
        }
        authoriser.letGo()
        let violations = error?.violations ?? []
        #expect(violations.contains { $0.contains(flaw.words) }, "\(violations)")
    }

    private final class FlawedAuthoriser: Authoriser {
        private let flaw: Flaw
        private let gate = DispatchSemaphore(value: 0)
        private let release = EventRecorder<Void>()
        private let last = Locked<DataLoaderRequest?>(nil)

        init(_ flaw: Flaw) {
            self.flaw = flaw
        }

        var identifier: String { flaw == .tellsItsSecret ? "key secret" : "key" }

        /// Ends what blocks.
        func letGo() {
            gate.signal()
            release.record(())
        }

        private func block() {
            gate.wait()
            gate.signal()
        }

        private func isOurs(_ url: URL) -> Bool {
            switch flaw {
            case .anyHost: url.scheme == "https"
            case .anyHostThatBeginsLikeIt:
                url.scheme == "https" && url.host()?.hasPrefix("api.example.com") == true
            case .anyHostThatEndsLikeIt:
                url.scheme == "https" && url.host()?.hasSuffix("example.com") == true
            case .plainHTTP: url.host() == "api.example.com"
            case .plainOnItsPort: url.host() == "api.example.com" && url.port == 8443
            default: url.scheme == "https" && url.host() == "api.example.com"
            }
        }

        func authorise(_ request: DataLoaderRequest) -> Authorisation {
            guard isOurs(request.url), flaw != .nothing else { return .unchanged }
            if flaw == .refusal { return .refuse(DataLoaderError.dns) }
            if flaw == .blocks { block() }
            var authorised = request
            switch flaw {
            case .newRequest: authorised = DataLoaderRequest(url: request.url)
            case .body: authorised.body = .data(Data("other".utf8))
            case .method: authorised.method = .put
            case .place: authorised.url.append(path: "other")
            case .fields: authorised.headers = [:]
            case .mixesThreads:
                last.withLock { $0 = request }
                usleep(100)
                authorised = last.withLock { $0 } ?? request
            default: break
            }
            authorised.headers["X-Api-Key"] = "secret"
            switch flaw {
            case .ignoresCancellation, .neverLater:
                return .later { [flaw, release, authorised] in
                    let cancelled = EventRecorder<Void>()
                    await withTaskCancellationHandler {
                        _ = await (flaw == .neverLater ? cancelled : release).first(1)
                    } onCancel: {
                        cancelled.record(())
                    }
                    if flaw == .neverLater { try Task.checkCancellation() }
                    return authorised
                }
            default: return .use(authorised)
            }
        }

        func recover(_ request: DataLoaderRequest, from response: DataLoaderResponse) -> Bool {
            if flaw == .blocksInRecover { block() }
            return true
        }

        func reset() async {
            if flaw == .neverReset { _ = await release.first(1) }
        }
    }
}
